import type { ServerResponse } from 'node:http'
import type { BytesReply, Reply, ReplyHeaders, StreamReply } from '../core/reply/reply.ts'
import type { ClientRequest } from '../core/request/client-request.ts'
import type { ClientDialect } from '../dialects/client-dialect.ts'
import { createStreamRenderer, renderBytes } from '../dialects/render.ts'
import { onClosed } from './client-disconnect.ts'
import { keptPrivate } from './kept-private.ts'
import { Pinger } from './pinger.ts'
import type { ReplyWatch } from './reply-watch.ts'

/** Options of sending replies. */
export interface SendOptions {
  /** Idle time of a stream after which a ping is sent, in milliseconds. */
  readonly pingIntervalMs: number
}

/** The receiver of a reply, and its request. */
export interface Addressee {
  readonly dialect: ClientDialect
  /** The request; unset where replies are in the client's dialect already. */
  readonly request?: ClientRequest
  readonly headers: ReplyHeaders
  /** Observes a successful reply. */
  readonly watch?: ReplyWatch | undefined
  /** Receives the function that breaks a stream off with an error of the gateway. */
  readonly breaksOff?: (breakOff: (message: string) => void) => void
}

/**
 * Sends a reply: its bytes unchanged when they are in the client's dialect, otherwise translated. While a stream is
 * idle between its first event and its last, pings are sent; a broken stream ends with an error event. Both are written
 * only between whole events.
 */
export function sendReply(response: ServerResponse, reply: Reply, options: SendOptions & Addressee): void {
  if (response.destroyed) {
    reply.cancel()
    return
  }
  if (reply.kind === 'stream') sendStream(response, reply, options)
  else {
    const rendered = renderBytes(reply, options)
    if (rendered.status === 200) options.watch?.body(rendered.bytes)
    sendBytes(response, rendered, options.headers)
  }
}

function sendBytes(response: ServerResponse, { status, headers, bytes }: BytesReply, gateways: ReplyHeaders): void {
  // An object: with headers set before, Node would first remove and then append each one of a list.
  const merged = mergeHeaders(headers, gateways)
  merged['content-length'] = String(bytes.length)
  response.writeHead(status, merged)
  response.end(bytes)
}

const CACHE_CONTROL = 'cache-control'

/** Header names of request ids, which the provider's support can look up. */
const IDS: ReadonlySet<string> = new Set(['request-id', 'x-request-id'])

/**
 * Merges both sets of headers. For a name in both, the gateway's value wins, except for request ids. No shared cache may
 * store a reply, whatever directives the provider sent.
 */
function mergeHeaders(replys: ReplyHeaders, gateways: ReplyHeaders): ReplyHeaders {
  const merged: ReplyHeaders = { ...replys, [CACHE_CONTROL]: keptPrivate(replys[CACHE_CONTROL]) }
  for (const name in gateways) {
    const value = gateways[name]
    if (value !== undefined && !(IDS.has(name) && merged[name] !== undefined)) merged[name] = value
  }
  return merged
}

function sendStream(
  response: ServerResponse,
  reply: StreamReply,
  { dialect, request, headers, pingIntervalMs, watch, breaksOff }: SendOptions & Addressee,
): void {
  response.writeHead(reply.status, mergeHeaders(reply.headers, headers))
  const renderer = createStreamRenderer(reply, { dialect, request })
  let hasBegun = false
  const pinger = new Pinger(response, {
    rules: dialect.ping,
    intervalMs: pingIntervalMs,
    isTorn: () => reply.isTorn,
  })
  response.on('drain', () => {
    pinger.refresh()
    reply.resume()
  })
  onClosed(response, () => {
    pinger.stop()
    reply.cancel()
  })
  breaksOff?.((message) => {
    if (response.destroyed || response.writableEnded) return
    if (reply.isTorn) response.destroy()
    else response.end(renderer.breakOff(message))
    reply.cancel()
  })
  reply.open({
    write(portion) {
      if (response.writableEnded) return true
      const bytes = renderer.portion(portion)
      if (bytes.length === 0) return true
      hasBegun = true
      watch?.portion(bytes)
      pinger.see(bytes)
      return response.write(bytes)
    },
    end(ending) {
      pinger.stop()
      if (response.destroyed || response.writableEnded) return
      if (ending.error === undefined) response.end(renderer.end())
      else if (reply.isTorn) response.destroy()
      else response.end(renderer.breakOff(`The reply broke off: ${ending.error.message}.`))
    },
  })
  // Headers are usually written together with the first events; when those are late, headers are sent first.
  setImmediate(() => {
    if (!hasBegun && !response.destroyed) response.flushHeaders()
  })
}
