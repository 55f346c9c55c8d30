import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import { eventually } from '../../../../test/support/eventually.ts'
import { type ModelFolderOptions, writeModelFolder } from '../../../../test/support/onnx/model-folder.ts'
import { createRecordingLog } from '../../../../test/support/recording-log.ts'
import { cosineOf } from '../../cosine.ts'
import { type Embedder, EmbedderFault } from '../../embedder.ts'
import { createOnnxEmbedder, type OnnxSettings } from './embedder.ts'

const NEVER = new AbortController().signal
const ROWS = {
  how: [0, 1, 0, 0, 0],
  ship: [3, 4, 0, 0, 0],
  boat: [3, 4, 1, 0, 0],
  tax: [0, 0, 0, 2, 1],
  the: [0, 0, 1, 0, 0],
  '?': [0, 0, 0, 0, 1],
}
const WORDS = Object.keys(ROWS)

function folderOf(t: ExecutionContext, options: Partial<ModelFolderOptions> = {}): string {
  const model = writeModelFolder({ rows: ROWS, ...options })
  t.teardown(model.remove)
  return model.path
}

async function open(t: ExecutionContext, settings: Partial<OnnxSettings> = {}): Promise<Embedder> {
  const defaults = { threads: 1, longestWaitMs: 60_000, budgetMs: 60_000, log: createRecordingLog() }
  const embedder = await createOnnxEmbedder({ ...defaults, folder: settings.folder ?? folderOf(t), ...settings })
  t.teardown(() => embedder.close?.())
  return embedder
}

const vectorOf = async (embedder: Embedder, text: string) => [...(await embedder.embed(text, NEVER))]

test('onnx: runs a real model, and its vector is the mean of the tokens, of length one, padded to a multiple of four', async (t) => {
  const embedder = await open(t)
  t.is(embedder.dimensions, 8)
  t.deepEqual(await vectorOf(embedder, 'Ship'), [76, 102, 0, 0, 0, 0, 0, 0])
  // (3, 4, 0, 2, 1) over √30.
  t.deepEqual(await vectorOf(embedder, 'ship TAX'), [70, 93, 0, 46, 23, 0, 0, 0])
})

test('onnx: texts of like meaning are near, others are far', async (t) => {
  const embedder = await open(t)
  const [ship, boat, tax] = await Promise.all(
    ['the ship', 'the boat', 'the tax'].map((text) => embedder.embed(text, NEVER)),
  )
  if (ship === undefined || boat === undefined || tax === undefined) return t.fail()
  t.true(cosineOf(ship, boat) > 0.95)
  t.true(cosineOf(ship, tax) < 0.2)
})

test('onnx: takes the first token where the folder says so', async (t) => {
  // The first token is [CLS], which points nowhere in this model.
  const error = await t.throwsAsync(open(t, { folder: folderOf(t, { pooling: 'cls' }) }))
  t.regex(error.message, /no direction/)
})

test('onnx: a model of whole texts is taken as it is', async (t) => {
  const folder = folderOf(t, { output: 'token_embeddings', otherInputs: [], modelFile: 'model.onnx' })
  t.deepEqual(await vectorOf(await open(t, { folder }), 'ship'), [76, 102, 0, 0, 0, 0, 0, 0])
})

test('onnx: a text is cut to what the model takes', async (t) => {
  const embedder = await open(t, { folder: folderOf(t, { mostTokens: 4 }) })
  t.deepEqual(await vectorOf(embedder, 'ship ship tax tax tax'), await vectorOf(embedder, 'ship ship'))
})

test('onnx: neither threads nor neighbours change a vector', async (t) => {
  const folder = folderOf(t)
  const [one, two] = await Promise.all([open(t, { folder }), open(t, { folder, threads: 2 })])
  t.is(one.id, two.id)
  const sentence = fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 80 }).map((words) => words.join(' '))
  const seen = new Set<string>()
  const check = fc.asyncProperty(fc.array(sentence, { minLength: 2, maxLength: 8 }), async (texts) => {
    const together = await Promise.all(texts.map((text) => vectorOf(two, text)))
    for (const [i, text] of texts.entries()) {
      const alone = await vectorOf(one, text)
      seen.add(alone.join())
      t.deepEqual(together[i], alone)
    }
  })
  await fc.assert(check, { numRuns: 60 })
  t.true(seen.size > 100, `only ${seen.size} different vectors`)
})

test('onnx: another model, pooling or cut has another id, and the same folder the same', async (t) => {
  const folder = folderOf(t)
  const others = [
    folderOf(t, { rows: { ...ROWS, tax: [0, 0, 0, 2, 2] } }),
    folderOf(t, { mostTokens: 32 }),
    folderOf(t, { rows: { ...ROWS, extra: [1, 0, 0, 0, 0] } }),
  ]
  const ids = await Promise.all([folder, folder, ...others].map(async (one) => (await open(t, { folder: one })).id))
  t.is(ids[0], ids[1])
  t.is(new Set(ids).size, 4)
})

const FAULTS: [what: string, make: (t: ExecutionContext) => string, expected: RegExp][] = [
  ['no folder', () => '/nowhere/at/all', /no folder/],
  [
    'a folder without a model',
    (t) => folderOf(t, { modelFile: 'other.onnx' }),
    /expected one of onnx\/model_quantized\.onnx/,
  ],
  ['an unknown pooling', (t) => folderOf(t, { pooling: 'max' }), /pooling_mode_mean_tokens or pooling_mode_cls_token/],
  ['a model that asks for more', (t) => folderOf(t, { otherInputs: ['pixel_values'] }), /asks for pixel_values/],
  ['a model that gives something else', (t) => folderOf(t, { output: 'logits' }), /gives logits; expected one of/],
  ['a model that is none', (t) => withFile(folderOf(t), 'onnx/model_quantized.onnx', 'no model'), /cannot be run/],
  ['a tokenizer that is none', (t) => withFile(folderOf(t), 'tokenizer.json', '[]'), /cannot be run/],
  ['a configuration that is none', (t) => withFile(folderOf(t), 'config.json', '{'), /config\.json/],
]

for (const [what, make, expected] of FAULTS) {
  test(`onnx: ${what} is an error at the start that says what was expected`, async (t) => {
    const error = await t.throwsAsync(open(t, { folder: make(t), threads: 2 }))
    t.regex(error.message, expected)
  })
}

test('onnx: without its packages the error says what to run', async (t) => {
  const resolve = () => {
    throw new Error('not found')
  }
  const error = await t.throwsAsync(open(t, { resolve }))
  t.regex(error.message, /onnxruntime-node and @huggingface\/tokenizers: run `npm ci --include=optional`/)
})

/** A program that knows three words: `die` ends the thread, `hang` is never answered, `fail` is a fault. */
const MOODY = `
import { parentPort } from 'node:worker_threads'
parentPort.on('message', ({ text }) => {
  if (text === 'die') process.exit(1)
  if (text === 'fail') parentPort.postMessage({ kind: 'fault', message: 'no' })
  else if (text !== 'hang') parentPort.postMessage({ kind: 'vector', vector: Int8Array.of(127, 0, 0, 0) })
})
parentPort.postMessage({ kind: 'ready', dimensions: 4, msPerCharacter: 1 })
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

test('onnx: a request waits no longer than the budget, and others that would wait too long do not begin to', async (t) => {
  const { embedder } = await openMoody(t, { budgetMs: 30, longestWaitMs: 25 })
  const hung = reasonOf(embedder, 'hang')
  const [fits, tooMany] = [reasonOf(embedder, 'x'.repeat(22)), reasonOf(embedder, 'one more')]
  t.is(await tooMany, 'embedder-busy')
  t.deepEqual(await Promise.all([hung, fits]), ['embedder-late', 'embedder-late'])
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
