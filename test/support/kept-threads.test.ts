import { type EventEmitter, once } from 'node:events'
import { pathToFileURL } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import { createPluginDirectory } from './plugin-folders.ts'

/** Worker as AVA and `ThreadHost` use it. */
interface Kept extends EventEmitter {
  readonly threadId: number
  postMessage(message: unknown): void
  terminate(): Promise<void>
}
type KeptClass = new (program: URL, options: { readonly workerData: unknown }) => Kept

// Safe: the classes of these modules, which have no types.
const load = async (file: string) =>
  ((await import(new URL(file, import.meta.url).href)) as { Worker: KeptClass }).Worker
const FileRun = await load('kept-threads.mjs')
const Program = await load('kept-programs.mjs')

/** AVA's part of a thread, in small: answers with its data and the environment, and ends by the message that it gets. */
const BASE = `
  const { workerData, parentPort, end } = globalThis[Symbol.for('turnpike.file-run')]
  parentPort.postMessage({ file: workerData.options.file, before: process.env.LEFT })
  process.env.LEFT = 'left'
  parentPort.once('message', (how) => (how === 'exit' ? process.exit(3) : end()))
`
const PROGRAM = `
  import { parentPort, workerData } from 'node:worker_threads'
  parentPort.on('message', () => parentPort.close())
  parentPort.postMessage(workerData)
`

function startFile(t: ExecutionContext, file: string): Kept {
  const program = createPluginDirectory(t).put('base.mjs', BASE)
  return new FileRun(pathToFileURL(program), { workerData: { options: { file } } })
}

async function run(kept: Kept, ending: string): Promise<readonly unknown[]> {
  const exit = once(kept, 'exit')
  const [message] = await once(kept, 'message')
  kept.postMessage(ending)
  return [message, ...(await exit)]
}

test.serial('kept threads: files run one after another in one thread, and leave no variable', async (t) => {
  const first = startFile(t, '/test/first.test.ts')
  t.deepEqual(await run(first, 'end'), [{ file: '/test/first.test.ts', before: undefined }, 0])
  const second = startFile(t, '/test/second.test.ts')
  t.is(second.threadId, first.threadId)
  await first.terminate()
  t.deepEqual(await run(second, 'end'), [{ file: '/test/second.test.ts', before: undefined }, 0])
})

test.serial('kept threads: a thread that ends during a file runs no other', async (t) => {
  const lost = startFile(t, '/test/lost.test.ts')
  t.deepEqual(await run(lost, 'exit'), [{ file: '/test/lost.test.ts', before: undefined }, 3])
  const next = startFile(t, '/test/next.test.ts')
  t.not(next.threadId, lost.threadId)
  await run(next, 'end')
})

test.serial('kept threads: two files at once have two threads, and so have files beside the modules', async (t) => {
  const files = ['/test/one.test.ts', '/test/other.test.ts', '/src/beside.test.ts'].map((file) => startFile(t, file))
  t.is(new Set(files.map(({ threadId }) => threadId)).size, files.length)
  await Promise.all(files.map((file) => run(file, 'end')))
})

test('kept programs: one after another has its own data; one that is terminated ends', async (t) => {
  const place = createPluginDirectory(t).put('src/stores/sql/sqlite/worker.mjs', PROGRAM)
  const start = (data: string) => new Program(pathToFileURL(place), { workerData: data })
  t.deepEqual(await run(start('first'), 'close'), ['first', 0])
  t.deepEqual(await run(start('second'), 'close'), ['second', 0])
  const last = start('third')
  t.deepEqual(await once(last, 'message'), ['third'])
  const exit = once(last, 'exit')
  await last.terminate()
  t.deepEqual(await exit, [1])
})
