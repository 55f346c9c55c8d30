import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ChatRules } from './openai/check-request.ts'
import type { ChatScript } from './openai/script.ts'
import { serve } from './openai/serve.ts'
import { createJournal, type SeenRequest, trackSocket } from './provider/journal.ts'
import type { Provider } from './stand-in-provider.ts'

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

/** Chooses what happens to the nth valid request since `reply()` (from 1); `undefined` is the default answer. */
export type ChatScriptChooser = (request: SeenRequest, nth: number) => ChatScript | undefined

/** Options of `startOpenAI`. */
export interface OpenAIOptions extends ChatRules {
  /** What happens to requests until `reply()` says otherwise. Default: the default answer. */
  script?: ChatScript | ChatScriptChooser
  /** Refuses nothing, not even unknown routes. Default off. */
  acceptAnything?: boolean
  /** Whether streams end with `[DONE]`. Default true; some compatible servers just close. */
  done?: boolean
}

/** A running stand-in. `await using` closes it, and so does `t.teardown(server.close)`. */
export interface OpenAIServer extends Omit<Provider, 'reply'> {
  /** Sets what happens to valid requests from now on, and counts `nth` from 1 again. */
  reply(script: ChatScript | ChatScriptChooser | undefined): void
}

const DEFAULT_WAIT_MS = 10_000

/** Starts a strict stand-in for the chat completions API on a free loopback port; its `url` has no `/v1`. */
export async function startOpenAI(options: OpenAIOptions = {}): Promise<OpenAIServer> {
  const journal = createJournal()
  let received = 0
  let nth = 0
  let choose = toChooser(options.script)
  const script = (request: SeenRequest) => choose(request, ++nth)
  const serving = { journal, rules: options, count: () => ++received, script }
  const server = createServer((request, response) => {
    serve(request, response, serving).catch((error: unknown) => {
      journal.failure ??= error
      response.destroy()
    })
  })
  server.on('connection', (socket) => trackSocket(socket, journal))
  server.keepAliveTimeout = 60_000 // an idle close must not race with a pooled connection's next request
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // safe: it listens on TCP

  const close = async () => {
    journal.isClosing = true
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    for (const socket of journal.sockets) socket.destroy()
    await closed
    if (journal.failure !== undefined) throw journal.failure
  }
  return {
    url: `http://127.0.0.1:${port}`,
    seen: journal.seen,
    reply(next) {
      choose = toChooser(next)
      nth = 0
    },
    connections: () => journal.sockets.size,
    pending: () => journal.pending,
    until: (condition, waitMs = DEFAULT_WAIT_MS) => journal.until(condition, waitMs),
    close,
    [Symbol.asyncDispose]: close,
  }
}

function toChooser(script: ChatScript | ChatScriptChooser | undefined): ChatScriptChooser {
  return typeof script === 'function' ? script : () => script
}
