import { setTimeout as sleep } from 'node:timers/promises'
import { errorCodeOf, messageOf } from '../../core/errors.ts'
import { EventFramer, scanEvents } from '../../core/reply/sse.ts'
import { CommandError } from '../exit-codes.ts'
import { ask, type RemoteGateway } from '../remote/gateway.ts'
import type { LiveRequest } from './row.ts'

/**
 * DESIGN — following the live feed
 *
 *   connect ──refused──► CommandError          an operator must act, so there is no retry
 *      │ ◄───────────────────────────────┐
 *   events ──lost, silent──► wait: 0.5, 1, 2, 4, 8, 10, 10 … s ──► connect with the last id that was seen
 *
 * Guarantees: no request is yielded twice, and none is missed that the gateway still buffers (its last 200). A connection
 * without bytes for 45 s, three of the gateway’s heartbeats, counts as lost. Only the first connection must
 * succeed; from then on a gateway that is away is waited for.
 */
const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 10_000
const LONGEST_SILENCE_MS = 45_000

/** Event of a followed feed. */
export type FeedEvent =
  | { readonly kind: 'request'; readonly request: LiveRequest }
  | { readonly kind: 'dropped'; readonly count: number }
  | { readonly kind: 'open' }
  | { readonly kind: 'lost'; readonly why: string; readonly pauseMs: number }

/** Follows the feed until `signal` is aborted. Throws `CommandError` when the first connection is refused or fails. */
export async function* follow(gateway: RemoteGateway, signal: AbortSignal): AsyncGenerator<FeedEvent> {
  let lastId: string | undefined
  let wasOpen = false
  let pauseMs = FIRST_PAUSE_MS
  while (!signal.aborted) {
    try {
      for await (const event of connection(gateway, lastId, signal)) {
        if (event.kind === 'request') lastId = event.request.id
        if (event.kind === 'open') pauseMs = FIRST_PAUSE_MS
        wasOpen = true
        yield event
      }
      yield { kind: 'lost', why: 'the gateway ended the feed', pauseMs }
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof CommandError && (!wasOpen || error.exitCode !== 69)) throw error
      yield { kind: 'lost', why: reasonOf(error), pauseMs }
    }
    await sleep(pauseMs, undefined, { signal }).catch(() => {})
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
  }
}

/** Reads one connection until it ends. */
async function* connection(
  gateway: RemoteGateway,
  lastId: string | undefined,
  stopped: AbortSignal,
): AsyncGenerator<FeedEvent> {
  const silence = new AbortController()
  const timer = setTimeout(() => silence.abort(new Error('it went silent')), LONGEST_SILENCE_MS)
  try {
    const headers = { ...gateway.headers, accept: 'text/event-stream', ...(lastId && { 'last-event-id': lastId }) }
    const signal = AbortSignal.any([stopped, silence.signal])
    const { body } = await ask(gateway, '/dashboard/api/live', { headers, signal })
    yield { kind: 'open' }
    const framer = new EventFramer()
    for await (const piece of body ?? []) {
      timer.refresh()
      const portion = framer.push(Buffer.from(piece))
      if (portion !== undefined) yield* eventsIn(portion)
    }
  } finally {
    clearTimeout(timer)
  }
}

function eventsIn(portion: Buffer): FeedEvent[] {
  const events: FeedEvent[] = []
  scanEvents(portion, (name, source, start, end) => {
    const data: unknown = JSON.parse(source.toString('utf8', start, end))
    // Safe: the feed’s own shape.
    if (name === 'message') events.push({ kind: 'request', request: data as LiveRequest })
    if (name === 'dropped') events.push({ kind: 'dropped', count: Number(data) })
  })
  return events
}

/** Returns the reason of a broken connection, which fetch hides in `cause`. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
  return errorCodeOf(cause) ?? messageOf(cause)
}
