import { getEventListeners } from 'node:events'
import test from 'ava'
import { abortable, onAbort } from './abortable.ts'

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
