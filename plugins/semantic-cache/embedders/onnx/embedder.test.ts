import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import { eventually } from '../../../../test/support/eventually.ts'
import { writeModelFolder } from '../../../../test/support/onnx/model-folder.ts'
import { createRecordingLog } from '../../../../test/support/recording-log.ts'
import { type Embedder, EmbedderFault } from '../../embedder.ts'
import { createOnnxEmbedder, type OnnxSettings } from './embedder.ts'

const NEVER = new AbortController().signal
function folderOf(t: ExecutionContext): string {
  const model = writeModelFolder({ rows: { ship: [3, 4] } })
  t.teardown(model.remove)
  return model.path
}

async function open(t: ExecutionContext, settings: Partial<OnnxSettings> = {}): Promise<Embedder> {
  const runtimeFile = 'its programs need none'
  const defaults = { budgetMs: 60_000, log: createRecordingLog(), runtimeFile }
  const embedder = await createOnnxEmbedder({ ...defaults, folder: settings.folder ?? folderOf(t), ...settings })
  t.teardown(() => embedder.close?.())
  return embedder
}

test('onnx: without its runtime the error is one line that says what to install', async (t) => {
  const error = await t.throwsAsync(open(t, { runtimeFile: undefined }))
  t.is(
    error.message,
    '`embedder: onnx` needs a package that is not installed: run `npm install onnxruntime-node@1.30.0`',
  )
})

/** A program that knows three words: `die` ends the thread, `hang` is never answered, `fail` is a fault. */
const MOODY = `
import { parentPort } from 'node:worker_threads'
parentPort.on('message', ({ text }) => {
  if (text === 'die') process.exit(1)
  if (text === 'fail') parentPort.postMessage({ kind: 'fault', message: 'no' })
  else if (text !== 'hang') parentPort.postMessage({ kind: 'vector', vector: Int8Array.of(127, 0, 0, 0) })
})
parentPort.postMessage({ kind: 'ready', dimensions: 4 })
`

async function openMoody(t: ExecutionContext, settings: Partial<OnnxSettings> = {}) {
  const folder = folderOf(t)
  withFile(folder, 'moody.mjs', MOODY)
  const log = createRecordingLog()
  const program = pathToFileURL(path.join(folder, 'moody.mjs'))
  return { log, embedder: await open(t, { folder, program, log, ...settings }) }
}

async function reasonOf(embedder: Embedder, text: string, signal = NEVER): Promise<string> {
  try {
    await embedder.embed(text, signal)
    return 'none'
  } catch (error) {
    return error instanceof EmbedderFault ? error.reason : String(error)
  }
}

test('onnx: a thread that dies fails its text, those that wait and those that come, and is started again', async (t) => {
  const { embedder, log } = await openMoody(t)
  const reasons = await Promise.all(['die', 'waits'].map((text) => reasonOf(embedder, text)))
  t.deepEqual(reasons, ['embedder-gone', 'embedder-gone'])
  t.is(await reasonOf(embedder, 'comes'), 'embedder-gone')
  await eventually(() => log.events().includes('embedder.restarted'), 'the thread is started again')
  t.is(await reasonOf(embedder, 'comes again'), 'none')
})

test('onnx: a fault of the model is that text’s alone', async (t) => {
  const { embedder } = await openMoody(t)
  t.is(await reasonOf(embedder, 'fail'), 'embedder-fault')
  t.is(await reasonOf(embedder, 'well'), 'none')
})

test('onnx: a request waits no longer than the budget, and no more than 32 wait', async (t) => {
  const { embedder } = await openMoody(t, { budgetMs: 30 })
  const waiting = ['hang', ...Array(31).fill('x')].map((text) => reasonOf(embedder, text))
  t.is(await reasonOf(embedder, 'one more'), 'embedder-busy')
  t.deepEqual(new Set(await Promise.all(waiting)), new Set(['embedder-late']))
})

test('onnx: who leaves waits no longer', async (t) => {
  const { embedder } = await openMoody(t)
  void reasonOf(embedder, 'hang')
  const leaving = new AbortController()
  const left = reasonOf(embedder, 'waits', leaving.signal)
  leaving.abort(new Error('left'))
  t.is(await left, 'Error: left')
})

function withFile(folder: string, name: string, content: string): string {
  writeFileSync(path.join(folder, name), content)
  return folder
}
