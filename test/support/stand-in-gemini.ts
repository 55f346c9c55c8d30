import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { GeminiRules } from './gemini/check-request.ts'
import type { GeminiScript } from './gemini/script.ts'
import { serve } from './gemini/serve.ts'
import { createJournal, type SeenRequest, trackSocket } from './provider/journal.ts'

/*
 * DESIGN. A stand-in for the Gemini API, v1beta: a real HTTP server on loopback that refuses what Google refuses, answers
 * valid requests in Google's shapes, and misbehaves only where a test scripts it. The sibling of `stand-in-provider.ts`,
 * with its journal, scripts of misbehaviour and delivery.
 *
 * Guarantees: no reply depends on the clock or on chance; a script is asked only for requests that Google would take;
 * `close()` ends every wait, timer and socket, and rejects when a script threw.
 * Limits: four bytes are a token; only fields in camel case are known; schemas of tools are not looked into.
 */

/** Chooses what happens to the nth valid request since `reply()` (from 1); `undefined` is the default answer. */
export type GeminiScriptChooser = (request: SeenRequest, nth: number) => GeminiScript | undefined

/** Options of `startGemini`. */
export interface GeminiOptions extends GeminiRules {
  /** What happens to requests until `reply()` says otherwise. Default: the default answer. */
  script?: GeminiScript | GeminiScriptChooser
}

/** A running stand-in. `await using` closes it, and so does `t.teardown(gemini.close)`. */
export interface Gemini extends AsyncDisposable {
  /** Base address, without a slash at the end. */
  url: string
  /** The newest 1,000 requests, oldest first. One is listed when its body is complete or its client has left. */
  seen: readonly SeenRequest[]
  /** Sets what happens to valid requests from now on, and counts `nth` from 1 again. */
  reply(script: GeminiScript | GeminiScriptChooser | undefined): void
  /** Number of open sockets, idle ones included. */
  connections(): number
  /** Number of requests whose response is still open. */
  pending(): number
  /** Resolves once `condition` holds; looks after every change; rejects after `waitMs` (default 10 s). */
  until(condition: () => boolean, waitMs?: number): Promise<void>
  close(): Promise<void>
}

const DEFAULT_WAIT_MS = 10_000

/** Starts a strict stand-in for the Gemini API on a free loopback port. */
export async function startGemini(options: GeminiOptions = {}): Promise<Gemini> {
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

function toChooser(script: GeminiScript | GeminiScriptChooser | undefined): GeminiScriptChooser {
  return typeof script === 'function' ? script : () => script
}
