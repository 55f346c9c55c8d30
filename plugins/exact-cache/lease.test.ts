import { mock } from 'node:test'
import test from 'ava'
import { createRecordingLog } from '../../test/support/recording-log.ts'
import { takeLease } from './lease.ts'
import { CacheStore } from './store.ts'

const A_LONG_TIME_MS = 60_000
const signal = new AbortController().signal

/** Opens a store whose lease is free, and records what is done with it. */
function open() {
  const done: string[] = []
  const note = (what: string) => async () => void done.push(what)
  const leases = { take: async () => true, renew: note('renew'), release: note('release') }
  const store = new CacheStore(
    { get: async () => undefined, set: async () => {}, delete: async () => {}, leases },
    createRecordingLog(),
  )
  return { store, done }
}

test.before(() => mock.timers.enable({ apis: ['setInterval'] }))
test.after.always(() => mock.timers.reset())

test.serial(
  'lease: it is renewed until it is released, and never after: another instance may have it then',
  async (t) => {
    const { store, done } = open()
    const lease = await takeLease(store, 'k', { signal, isWanted: () => true })
    mock.timers.tick(6000)
    t.deepEqual(done, ['renew', 'renew', 'renew'])
    await lease.end()
    mock.timers.tick(A_LONG_TIME_MS)
    await lease.end()
    t.deepEqual(done.slice(3), ['release'])
  },
)

test.serial('lease: one that is no longer wanted is released once', async (t) => {
  const { store, done } = open()
  await takeLease(store, 'k', { signal, isWanted: () => false })
  mock.timers.tick(A_LONG_TIME_MS)
  t.deepEqual(done, ['release'])
})
