import type { GeminiRules } from './gemini/check-request.ts'
import type { GeminiScript } from './gemini/script.ts'
import { serve } from './gemini/serve.ts'
import { type Scripted, type Scripts, startScripted } from './provider/scripted.ts'

/*
 * DESIGN. A stand-in for the Gemini API, v1beta: a real HTTP server on loopback that refuses the requests that Google
 * refuses, answers valid ones in Google's shapes, and misbehaves only where a test scripts it. The sibling of
 * `stand-in-provider.ts`, with its journal, scripts of misbehaviour and delivery.
 *
 * Guarantees: no reply depends on the clock or on randomness; a script is called only for requests that Google accepts;
 * `close()` ends every wait, timer and socket, and rejects when a script threw.
 * Limits: four bytes are a token; only fields in camel case are known; schemas of tools are not checked.
 */

/** Options of `startGemini`. */
export interface GeminiOptions extends GeminiRules {
  /** Replies to requests until `reply()` changes them. Default: the default reply. */
  script?: Scripts<GeminiScript>
}

/** A running stand-in. `await using` closes it, and so does `t.teardown(server.close)`. */
export type Gemini = Scripted<GeminiScript>

/** Starts a strict stand-in for the Gemini API on a free loopback port. */
export function startGemini(options: GeminiOptions = {}): Promise<Gemini> {
  return startScripted(options, serve)
}
