import { once } from 'node:events'
import test from 'ava'
import { startInterval } from './interval.ts'

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
