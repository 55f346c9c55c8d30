import type { ChatRules } from './openai/check-request.ts'
import type { ChatScript } from './openai/script.ts'
import { serve } from './openai/serve.ts'
import { type Scripted, type Scripts, startScripted } from './provider/scripted.ts'

/*
 * DESIGN. A stand-in for servers that speak OpenAI's chat completions: a real HTTP server on loopback with two flavours.
 * `openai` refuses what OpenAI refuses, parameter by parameter and model by model; `compatible` has the manners of a
 * vLLM or DeepSeek server: it ignores what it does not know, and its replies carry other members than OpenAI's.
 *
 *   request ─▶ journal ─▶ checks of the flavour ──refused──▶ error in its shape
 *                           └─valid─▶ script(request, nth) ─▶ completion ─▶ JSON or chunks ─▶ delivery
 *
 * Guarantees: no reply depends on the clock or on chance; a script is asked only for requests the server would take;
 * `close()` ends every wait, timer and socket, and rejects when a script threw.
 * Limits: a word is a token; no moderation, audio output or log probabilities; of the model families only what
 * `openai/model.ts` tells apart.
 */

/** Options of `startOpenAI`. */
export interface OpenAIOptions extends ChatRules {
  /** What happens to requests until `reply()` says otherwise. Default: the default answer. */
  script?: Scripts<ChatScript>
  /** Refuses nothing, not even unknown routes. Default off. */
  acceptAnything?: boolean
  /** Whether streams end with `[DONE]`. Default true; some compatible servers just close. */
  done?: boolean
}

/** A running stand-in. `await using` closes it, and so does `t.teardown(server.close)`. */
export type OpenAIServer = Scripted<ChatScript>

/** Starts a strict stand-in for the chat completions API on a free loopback port; its `url` has no `/v1`. */
export function startOpenAI(options: OpenAIOptions = {}): Promise<OpenAIServer> {
  return startScripted(options, serve)
}
