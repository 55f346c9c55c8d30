import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { HERE } from '../here.ts'
import { PATIENCE_MS } from '../patience.ts'
import { type Journal, type SeenRequest, trackSocket } from './journal.ts'

/** Members of every running stand-in. `await using` closes it, and so does `t.teardown(standIn.close)`. */
export interface StandIn extends AsyncDisposable {
  /** Base address, without a slash at the end. */
  url: string
  /** The newest 1,000 requests, oldest first, listed when the body is complete or the client has disconnected. */
  seen: readonly SeenRequest[]
  /** Returns the number of open sockets, idle ones included. */
  connections(): number
  /** Returns the number of requests whose response is still open. */
  pending(): number
  /** Resolves once `condition` holds; checks after every change; rejects after `waitMs` (default `PATIENCE_MS`). */
  until(condition: () => boolean, waitMs?: number): Promise<void>
  /** Ends every wait, timer and socket; rejects when `serve` threw. */
  close(): Promise<void>
}

/** Serves on a free loopback port. */
export async function listen(
  journal: Journal,
  serve: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<StandIn> {
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      journal.failure ??= error
      response.destroy()
    })
  })
  server.on('connection', (socket) => trackSocket(socket, journal))
  server.keepAliveTimeout = 60_000 // an idle close must not race with a pooled connection's next request
  await new Promise<void>((resolve) => server.listen(0, HERE, resolve))
  const { port } = server.address() as AddressInfo // safe: it listens on TCP

  const close = async () => {
    journal.isClosing = true
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    for (const socket of journal.sockets) socket.destroy()
    await closed
    journal.endWaits()
    if (journal.failure !== undefined) throw journal.failure
  }
  return {
    url: `http://${HERE}:${port}`,
    seen: journal.seen,
    connections: () => journal.sockets.size,
    pending: () => journal.pending,
    until: (condition, waitMs = PATIENCE_MS) => journal.until(condition, waitMs),
    close,
    [Symbol.asyncDispose]: close,
  }
}
