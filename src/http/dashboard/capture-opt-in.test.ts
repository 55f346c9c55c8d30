import test from 'ava'
import { createRecordingLog } from '../../../test/support/recording-log.ts'
import { CaptureOptIns } from './capture-opt-in.ts'

const HOUR_MS = 3_600_000

/** Opens the opt-ins of two processes that share a store, on one clock. */
function openTwo() {
  const clock = { ms: 1_000_000, nowMs: () => clock.ms }
  const entries = new Map<string, Buffer>()
  const store = {
    get: async (key: string) => entries.get(key),
    set: async (key: string, value: Buffer) => void entries.set(key, value),
    delete: async (key: string) => void entries.delete(key),
  }
  const create = () => new CaptureOptIns({ store, keepMs: HOUR_MS, clock, log: createRecordingLog() })
  return { clock, one: create(), other: create() }
}

test('capture: another process learns of an opt-in and of its end ten seconds later', async (t) => {
  const { clock, one, other } = openTwo()
  const isWantedThere = async () => {
    clock.ms += 10_001
    other.isWanted('ann') // looks it up for later requests
    await new Promise(setImmediate)
    return other.isWanted('ann')
  }
  t.false(await isWantedThere())
  for (const forMs of [HOUR_MS, 0, HOUR_MS]) {
    await one.set('ann', forMs)
    t.is(await isWantedThere(), forMs > 0)
  }
})
