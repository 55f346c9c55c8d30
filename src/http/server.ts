import http, { type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { errorCodeOf, GatewayError } from '../core/errors.ts'
import { createRequestId, requestIdHeaders } from './request-id.ts'
import { ObservedResponse } from './sent-body.ts'
import { serveUpgrades } from './sockets/upgrades.ts'

/** Limits of the HTTP server, in milliseconds; `config/server.ts` describes them. */
export interface ServerOptions {
  readonly header_timeout: number
  readonly body_timeout: number
  readonly keep_alive_timeout: number
  readonly stall_timeout: number
}

/**
 * Creates the HTTP server; requests for which `isSocket` is true may take their connection over. It disconnects slow senders and stalled readers, but not slow readers: replies have no time
 * limit.
 */
export function createHttpServer(
  listener: RequestListener,
  { isSocket, ...options }: ServerOptions & { isSocket: (request: IncomingMessage) => boolean },
): Server {
  const server = http.createServer(
    {
      headersTimeout: Math.min(options.header_timeout, options.body_timeout), // more is an error to Node
      requestTimeout: options.body_timeout,
      keepAliveTimeout: options.keep_alive_timeout,
      connectionsCheckingInterval: Math.min(options.header_timeout, 5_000),
      noDelay: true,
      ServerResponse: ObservedResponse,
      shouldUpgradeCallback: isSocket,
    },
    listener,
  )
  serveUpgrades(server, listener)
  return server.on('clientError', refuseMalformed).setTimeout(options.stall_timeout, cutStalled)
}

/**
 * Closes a connection without activity for `stall_timeout` while bytes wait to be read, or for `keep_alive_timeout`
 * between two requests. Node counts bytes of a long write that the kernel accepts as activity. A connection that waits
 * for a provider has no bytes to read, and one whose request arrives slowly has time-outs of its own.
 */
function cutStalled(socket: Socket & { _httpMessage?: unknown }): void {
  const isIdle = socket.bytesWritten > 0 && !socket._httpMessage
  if (socket.writableLength > 0 || isIdle) socket.destroy()
}

/** Replies to input that never became a request: it arrived too slowly, or is not HTTP. */
function refuseMalformed(cause: Error, socket: Duplex & { _httpMessage?: { headersSent: boolean } | null }): void {
  // After a reply has begun on the connection, an error would corrupt it.
  if (!socket.writable || socket._httpMessage?.headersSent) return void socket.destroy()
  const error =
    errorCodeOf(cause) === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? new GatewayError('request_timeout', 'The request did not arrive in time.', { cause })
      : new GatewayError('invalid_request', 'The request is not well-formed HTTP.', { cause })
  const requestId = createRequestId()
  const body = JSON.stringify({ ...error.toBody(), request_id: requestId })
  const head = [
    `HTTP/1.1 ${error.status} ${http.STATUS_CODES[error.status]}`,
    'connection: close',
    'cache-control: no-store',
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    ...Object.entries(requestIdHeaders(requestId)).map(([name, value]) => `${name}: ${value}`),
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}

/** Starts listening; resolves with the port. Rejects with the system's error (`EADDRINUSE`, …). */
export function listen(server: Server, { host, port }: { host: string; port: number }): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port, backlog: 4096 }, () => {
      server.off('error', reject)
      const address = server.address()
      resolve(typeof address === 'object' && address !== null ? address.port : port)
    })
  })
}

const SWEEP_INTERVAL_MS = 100

/**
 * Stops gracefully: refuses new connections, lets in-flight replies finish within `timeoutMs`, then closes theirs.
 * Resolves with true if all finished in time.
 */
export async function drain(server: Server, timeoutMs: number): Promise<boolean> {
  const closed = new Promise<true>((resolve) => server.close(() => resolve(true)))
  server.closeIdleConnections()
  // A kept-alive connection becomes idle when its reply is written; nothing else would close it then.
  const sweeper = setInterval(() => server.closeIdleConnections(), SWEEP_INTERVAL_MS)
  const cut = new AbortController()
  const late = sleep(timeoutMs, false, { signal: cut.signal }).catch(() => false)
  const finished = await Promise.race([closed, late])
  cut.abort()
  clearInterval(sweeper)
  if (!finished) server.closeAllConnections()
  await closed
  return finished
}
