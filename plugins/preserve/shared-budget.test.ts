import { mock } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import test from 'ava'
import { GatewayError } from 'turnpike/plugin'
import { createRecordingLog } from '../../test/support/recording-log.ts'
import type { SearchResult } from './protocol.ts'
import { SearchThread } from './search-thread.ts'
import { Searches } from './searches.ts'

const SEARCH_MS = 250
const STEP_MS = 50
const LONG_TEXT = 'a'.repeat(300_000)

/** Thread whose searches take no time, and a quarter of a second of CPU. */
class CountingThread extends SearchThread {
  count = 0

  override search(): Promise<SearchResult> {
    this.count++
    return Promise.resolve({ kind: 'found', matches: [], cpuMs: SEARCH_MS })
  }
}

// Timers are those of the whole thread: this file has one test.
test('searches: all callers together have two seconds of CPU at once and then half of one, and a search that waits for five seconds is 503', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  let nowMs = 0
  const thread = new CountingThread(createRecordingLog())
  const searches = new Searches({ clock: { nowMs: () => nowMs }, log: createRecordingLog(), operators: [], thread })
  t.teardown(() => searches.close())
  const { signal } = new AbortController()
  const find = (scope: string) => searches.find([LONG_TEXT], 'a.*z|a', { scope, signal })
  const outcomes = Array.from({ length: 40 }, (_, nth) => find(`caller-${nth}`).catch((error: unknown) => error))
  const passUntil = async (untilMs: number) => {
    for (; nowMs < untilMs; nowMs += STEP_MS) {
      mock.timers.tick(STEP_MS)
      for (let turn = 0; turn < 20; turn++) await nextTurn()
    }
  }
  for (let turn = 0; turn < 20; turn++) await nextTurn()
  // The one that goes beyond two seconds is charged afterwards.
  t.is(thread.count, 2000 / SEARCH_MS + 1)
  await passUntil(4000)
  t.true(Math.abs(thread.count - (4000 / 2 + 2000) / SEARCH_MS) <= 1, String(thread.count))
  await passUntil(5500)
  const refused = (await Promise.all(outcomes)).filter((outcome) => outcome instanceof GatewayError)
  t.is(refused.length, outcomes.length - thread.count)
  t.true(refused.every(({ code, headers }) => code === 'service_unavailable' && headers['retry-after'] !== undefined))
  t.true(Math.abs(thread.count - (5000 / 2 + 2000) / SEARCH_MS) <= 1, String(thread.count))
  nowMs += 1000
  t.deepEqual(await find('caller-0'), [])
})
