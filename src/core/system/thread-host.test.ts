import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { eventually } from '../../../test/support/eventually.ts'
import { ThreadHost, type ThreadHostOptions } from './thread-host.ts'

function open(t: ExecutionContext, program: string, options: Partial<ThreadHostOptions> = {}) {
  const source = `import { parentPort, workerData } from 'node:worker_threads'\n${program}`
  const host = new ThreadHost<string, string>({
    program: new URL(`data:text/javascript,${encodeURIComponent(source)}`),
    absent: (why) => new Error(why),
    ...options,
  })
  t.teardown(() => host.close())
  return host
}

const ECHO = `
parentPort.on('message', ({ kind, question }) => {
  if (kind === 'close') return parentPort.close()
  if (question === 'die') process.exit()
  if (question !== 'hang') parentPort.postMessage({ kind: 'answer', answer: question + workerData })
})
parentPort.postMessage({ kind: 'ready' })`

test('thread host: the first call starts a thread, and another one after it has ended', async (t) => {
  const host = open(t, ECHO, { start: '!' })
  t.is(await host.ask('a'), 'a!')
  await t.throwsAsync(host.ask('die'), { message: 'ended' })
  t.is(await host.ask('b'), 'b!')
})

test('thread host: a thread that is restarted after a delay refuses calls until then', async (t) => {
  const restarts: unknown[] = []
  const host = open(t, ECHO, { start: '', restartAfterMs: 20, onRestart: (error) => restarts.push(error) })
  await host.start()
  await t.throwsAsync(host.ask('die'), { message: 'ended' })
  await t.throwsAsync(host.ask('a'), { message: 'restarting' })
  await eventually(() => restarts.length === 1, 'it is started anew')
  t.deepEqual([restarts, await host.ask('a')], [[undefined], 'a'])
})

test('thread host: a concurrent second call is refused, and the first is unaffected', async (t) => {
  const host = open(t, ECHO, { start: '' })
  const first = host.ask('a')
  await t.throwsAsync(host.ask('b'), { message: /one call at a time/ })
  t.is(await first, 'a')
})

test('thread host: a thread that hangs is ended in time', async (t) => {
  const host = open(t, ECHO, { start: '' })
  await t.throwsAsync(host.ask('hang', { timeoutMs: 500 }), { message: 'ended' })
  t.is(await host.ask('a'), 'a')
})

test('thread host: a program’s fault is the error of its start, and the start is retried', async (t) => {
  const errors: unknown[] = []
  const program = `parentPort.postMessage({ kind: 'failed', fault: 'no such file' })`
  const host = open(t, program, { restartAfterMs: 1, onRestart: (error) => errors.push(error) })
  await t.throwsAsync(host.start(), { message: 'no such file' })
  await eventually(() => errors.length >= 2, 'it is tried again')
  t.true(errors.every((error) => error instanceof Error && error.message === 'no such file'))
})

test('thread host: a program that cannot start ends by itself before its start is rejected', async (t) => {
  const done = new Int32Array(new SharedArrayBuffer(4))
  const program = `
    parentPort.postMessage({ kind: 'failed', fault: 'no such file' })
    setTimeout(() => Atomics.store(workerData, 0, 1), 50)`
  await t.throwsAsync(open(t, program, { start: done }).start(), { message: 'no such file' })
  t.is(Atomics.load(done, 0), 1)
})

test('thread host: close waits for a program that closes its resources, also one that still starts', async (t) => {
  const done = new Int32Array(new SharedArrayBuffer(4))
  const program = `
    await new Promise((resolve) => setTimeout(resolve, 50))
    parentPort.on('message', () => setTimeout(() => { Atomics.store(workerData, 0, 1); parentPort.close() }, 50))
    parentPort.postMessage({ kind: 'ready' })`
  const host = open(t, program, { start: done, restartAfterMs: 1 })
  const started = host.start()
  await host.close()
  t.is(Atomics.load(done, 0), 1)
  await started
  await t.throwsAsync(host.ask('a'), { message: 'closed' })
})

test('thread host: a thread has little space for new objects, also in a process that was started with more', async (t) => {
  const program = `
    import { getHeapSpaceStatistics } from 'node:v8'
    import { parentPort } from 'node:worker_threads'
    const kept = []
    for (let round = 0; round < 300; round++) kept[round % 6] = Array.from({ length: 10_000 }, () => ({ round }))
    parentPort.on('message', ({ kind }) => {
      if (kind === 'close') return parentPort.close()
      const space = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')
      parentPort.postMessage({ kind: 'answer', answer: space.space_size / 2 ** 20 })
    })
    parentPort.postMessage({ kind: 'ready' })`
  const main = `
    import { ThreadHost } from ${JSON.stringify(import.meta.resolve('./thread-host.ts'))}
    const program = new URL(${JSON.stringify(`data:text/javascript,${encodeURIComponent(program)}`)})
    const host = new ThreadHost({ program, absent: (why) => new Error(why) })
    console.log(await host.ask(''))
    await host.close()`
  const args = ['--max-semi-space-size=16', '--input-type=module', '-e', main]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  t.true(Number(stdout) > 0 && Number(stdout) <= 6, `${stdout.trim()} MB`)
})
