import { Agent } from 'node:http'
import { bearer } from '../support/accounts.ts'
import { send } from '../support/http-client.ts'
import type { JsonObject } from '../support/json.ts'
import { MARK_HEADER, type Mischief } from './mischief.ts'
import type { Tally } from './tally.ts'

/** Longest wait for a reply: a machine that does other things as well must not make replies lost. */
const TIMEOUT_MS = 60_000
const HITS = new Set(['hit', 'attached'])

/** One program that calls models, with connections of its own. */
export interface Client {
  /** Asks once; `leavesAfterMs` is its time-out. */
  ask(body: JsonObject, how: { url: string; key: string; path?: string; leavesAfterMs?: number }): Promise<void>
  close(): void
}

let marks = 0

/** Makes a client whose replies are counted. */
export function createClient({ mischief, tally }: { mischief: Mischief; tally: Tally }): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: 32, maxFreeSockets: 2 })
  return {
    async ask(body, { url, key, path = '/v1/messages', leavesAfterMs }) {
      const mark = String(++marks)
      mischief.expect(mark)
      tally.sent++
      const patience = new AbortController()
      const timer = leavesAfterMs === undefined ? undefined : setTimeout(() => patience.abort(), leavesAfterMs)
      const sentAtMs = performance.now()
      let waitedMs = 0
      const onHeaders = () => {
        waitedMs = performance.now() - sentAtMs
      }
      const headers = { ...bearer(key), [MARK_HEADER]: mark }
      const options = { path, headers, body, agent, signal: patience.signal, timeoutMs: TIMEOUT_MS, onHeaders }
      const reply = await send(url, options).catch(() => undefined)
      clearTimeout(timer)
      const providerMs = mischief.providerMs(mark)
      if (patience.signal.aborted) tally.left++
      else if (reply === undefined || reply.status === 0) tally.lost++
      else tally.count(reply.status)
      if (reply?.status !== 200 || !reply.endedCleanly) return
      tally.complete++
      if (HITS.has(String(reply.headers['x-svc-cache']))) tally.hits++
      else if (providerMs !== undefined) tally.add(waitedMs - providerMs)
    },
    close: () => agent.destroy(),
  }
}
