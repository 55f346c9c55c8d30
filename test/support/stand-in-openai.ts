import type { ChatRules } from './openai/check-request.ts'
import type { ChatScript } from './openai/script.ts'
import { serve } from './openai/serve.ts'
import { type Scripted, type Scripts, startScripted } from './provider/scripted.ts'

/*
 * DESIGN. A stand-in for servers of OpenAI's chat completions: a real HTTP server on loopback with two flavours.
 * `openai` refuses as OpenAI does, parameter by parameter and model by model; `compatible` behaves like a
 * vLLM or DeepSeek server: it ignores unknown fields, and its replies carry other members than OpenAI's.
 *
 *   request ─▶ journal ─▶ checks of the flavour ──refused──▶ error in its shape
 *                           └─valid─▶ script(request, nth) ─▶ completion ─▶ JSON or chunks ─▶ delivery
 *
 * Guarantees: no reply depends on the clock or on randomness; a script is called only for requests the server accepts;
 * `close()` ends every wait, timer and socket, and rejects when a script threw.
 * Limits: a word is a token; no moderation, audio output or log probabilities; of the model families only the
 * distinctions of `openai/model.ts`.
 */

/** Options of `startOpenAI`. */
export interface OpenAIOptions extends ChatRules {
  /** Replies to requests until `reply()` changes them. Default: the default reply. */
  script?: Scripts<ChatScript>
  /** Accepts every request, also on unknown routes. Default off. */
  acceptAnything?: boolean
  /** True if streams end with `[DONE]`. Default true; some compatible servers just close. */
  done?: boolean
}

/** A running stand-in. `await using` closes it, and so does `t.teardown(server.close)`. */
export type OpenAIServer = Scripted<ChatScript>

/** Starts a strict stand-in for the chat completions API on a free loopback port; its `url` has no `/v1`. */
export function startOpenAI(options: OpenAIOptions = {}): Promise<OpenAIServer> {
  return startScripted(options, serve)
}
