import type { RequestRules } from './provider/check-request.ts'
import type { Script } from './provider/script.ts'
import { type Scripted, type Scripts, startScripted } from './provider/scripted.ts'
import { serve } from './provider/serve.ts'

/*
 * DESIGN. A stand-in for the provider's Messages API: a real HTTP server on loopback that refuses the requests that the
 * provider refuses, answers valid ones in the provider's shapes, and misbehaves only where a test scripts it.
 *
 *   request ─▶ journal ─▶ checks ──refused──▶ error in the provider's shape
 *                           └─valid─▶ script(request, nth) ─▶ payload ─▶ delivery (pauses, cuts, encodings)
 *
 * Guarantees: no reply depends on the clock or on randomness; a script is called only for requests the provider accepts;
 * `close()` ends every wait, timer and socket, and rejects when a script threw.
 * Limits: it counts a word, or four bytes, as a token; it keeps the last 1,000 requests.
 */

/** Options of `startProvider`. */
export interface ProviderOptions extends RequestRules {
  /** Replies to requests until `reply()` changes them. Default: the default reply. */
  script?: Scripts<Script>
  /** Accepts every request, also on unknown routes: for tests of the gateway's forwarding. Default off. */
  acceptAnything?: boolean
}

/** A running stand-in. `await using` closes it, and so does `t.teardown(server.close)`. */
export type Provider = Scripted<Script>

/** Starts a strict stand-in for the provider's Messages API on a free loopback port. */
export function startProvider(options: ProviderOptions = {}): Promise<Provider> {
  return startScripted(options, serve)
}
