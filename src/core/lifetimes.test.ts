import { getEventListeners, once } from 'node:events'
import test from 'ava'
import { createRecordingLog } from '../../test/support/recording-log.ts'
import { abortable, onAbort } from './abortable.ts'
import { Disposal } from './disposal.ts'
import { startInterval } from './interval.ts'

const REASON = new Error('the client disconnected')

function countListeners(signal: AbortSignal): number {
  return getEventListeners(signal, 'abort').length
}

test('abortable: a listener is called once, also for a signal that is aborted already', (t) => {
  const controller = new AbortController()
  let calls = 0
  onAbort(controller.signal, () => calls++)
  controller.abort(REASON)
  t.is(calls, 1)
  onAbort(controller.signal, () => calls++)
  t.is(calls, 2)
})

test('abortable: a listener that was removed is not called', (t) => {
  const controller = new AbortController()
  const remove = onAbort(controller.signal, () => t.fail())
  remove()
  controller.abort(REASON)
  t.is(countListeners(controller.signal), 0)
})

test('abortable: work that ends in time gives its result, and leaves no listener', async (t) => {
  const { signal } = new AbortController()
  t.is(await abortable(Promise.resolve(7), { signal, timeoutMs: 60_000 }), 7)
  t.is(countListeners(signal), 0)
})

test('abortable: a wait ends with the reason of its signal, aborted before or during it', async (t) => {
  const controller = new AbortController()
  const { signal } = controller
  const during = abortable(new Promise(() => {}), { signal })
  controller.abort(REASON)
  t.is(await t.throwsAsync(during), REASON)
  t.is(await t.throwsAsync(abortable(new Promise(() => {}), { signal })), REASON)
  t.is(countListeners(signal), 0)
})

test('abortable: a wait ends at its limit, with the error that was given', async (t) => {
  await t.throwsAsync(abortable(new Promise(() => {}), { timeoutMs: 1 }), { message: 'not done within 1 ms' })
  const onTimeout = () => new Error('too late')
  await t.throwsAsync(abortable(new Promise(() => {}), { timeoutMs: 1, onTimeout }), { message: 'too late' })
})

test.serial('abortable: work that fails after its wait has ended is handled', async (t) => {
  const unhandled: unknown[] = []
  const note = (error: unknown) => unhandled.push(error)
  process.on('unhandledRejection', note)
  const { promise: work, reject } = Promise.withResolvers<never>()
  await t.throwsAsync(abortable(work, { signal: AbortSignal.abort(REASON) }), { is: REASON })
  reject(new Error('late'))
  await new Promise((resolve) => setImmediate(resolve))
  process.off('unhandledRejection', note)
  t.deepEqual(unhandled, [])
})

test('disposal: parts are closed once, the last opened first', async (t) => {
  const disposal = new Disposal({ log: createRecordingLog(), partTimeoutMs: 60_000 })
  const closed: string[] = []
  for (const name of ['first', 'second', 'third'])
    disposal.add(name, async () => {
      await null
      closed.push(name)
    })
  await Promise.all([disposal.close(), disposal.close()])
  t.deepEqual(closed, ['third', 'second', 'first'])
})

test('disposal: parts that throw, reject or hang are logged, and all others are closed', async (t) => {
  const log = createRecordingLog()
  const disposal = new Disposal({ log, partTimeoutMs: 5 })
  const closed: string[] = []
  disposal.add('last', () => closed.push('last'))
  disposal.add('hangs', () => new Promise(() => {}))
  disposal.add('rejects', () => Promise.reject(new Error('no')))
  disposal.add('throws', () => {
    throw new Error('never')
  })
  await disposal.close()
  t.deepEqual(closed, ['last'])
  t.deepEqual(
    log.lines.map(({ fields }) => fields),
    [
      { part: 'throws', reason: 'never' },
      { part: 'rejects', reason: 'no' },
      { part: 'hangs', reason: 'not closed within 5 ms' },
    ],
  )
})

test('disposal: a subsystem has the time of each of its parts', async (t) => {
  const log = createRecordingLog()
  const outer = new Disposal({ log, partTimeoutMs: 5 })
  const inner = new Disposal({ log, partTimeoutMs: 5 })
  const closed: string[] = []
  outer.add('opened first', () => closed.push('opened first'))
  outer.nest(inner)
  for (const name of ['one', 'two']) inner.add(name, () => new Promise(() => {}))
  inner.add('three', () => closed.push('three'))
  await outer.close()
  t.deepEqual(closed, ['three', 'opened first'])
  t.deepEqual(
    log.lines.map(({ fields }) => fields),
    [
      { part: 'two', reason: 'not closed within 5 ms' },
      { part: 'one', reason: 'not closed within 5 ms' },
    ],
  )
})

const NEVER_MS = 3_600_000

test('interval: runs join the one in flight, and close waits for it', async (t) => {
  const work = Promise.withResolvers<void>()
  let runs = 0
  const interval = startInterval(
    () => {
      runs++
      return work.promise
    },
    { everyMs: NEVER_MS, onError: (error) => t.fail(String(error)) },
  )
  const both = Promise.all([interval.run(), interval.run()])
  let isClosed = false
  const closing = interval.close().then(() => {
    isClosed = true
  })
  await new Promise(setImmediate)
  t.false(isClosed)
  work.resolve()
  await Promise.all([both, closing])
  t.is(runs, 1)
})

test('interval: a run that throws is followed by another', async (t) => {
  const errors: unknown[] = []
  const second = Promise.withResolvers<void>()
  let runs = 0
  const interval = startInterval(
    () => {
      if (++runs === 2) second.resolve()
      throw new Error(`run ${runs}`)
    },
    { everyMs: 1, onError: (error) => errors.push(String(error)) },
  )
  const alive = setInterval(() => {}, NEVER_MS) // the interval's own timer keeps no process alive
  await second.promise
  clearInterval(alive)
  await interval.close()
  t.deepEqual(errors.slice(0, 2), ['Error: run 1', 'Error: run 2'])
})

test('interval: close aborts the run in flight', async (t) => {
  const interval = startInterval(async (signal) => void (await once(signal, 'abort')), {
    everyMs: NEVER_MS,
    onError: (error) => t.fail(String(error)),
  })
  void interval.run()
  await interval.close()
  t.pass()
})
