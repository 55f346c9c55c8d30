import type { ServerResponse } from 'node:http'
import type { BytesReply, Reply, ReplyHeaders, StreamReply } from '../core/reply/reply.ts'
import type { ClientRequest } from '../core/request/client-request.ts'
import type { ClientDialect } from '../dialects/client-dialect.ts'
import { createStreamRenderer, renderBytes } from '../dialects/render.ts'
import { onClosed } from './client-disconnect.ts'
import { keptPrivate } from './kept-private.ts'
import { Pinger } from './pinger.ts'

/** How replies are sent. */
export interface SendOptions {
  /** Silence on a stream after which the client is pinged, in milliseconds. */
  readonly pingIntervalMs: number
}

/** Who a reply is sent to. */
export interface Addressee {
  readonly dialect: ClientDialect
  /** What was asked; not needed where replies are in the dialect by their nature. */
  readonly request?: ClientRequest
  readonly headers: ReplyHeaders
}

/**
 * Sends a reply: its bytes as they are when they are in the client's dialect, translated when they are not. On a stream
 * a silence between its first event and its last is broken by pings, and a break is told by an error event; both only
 * between whole events.
 */
export function sendReply(response: ServerResponse, reply: Reply, options: SendOptions & Addressee): void {
  if (response.destroyed) {
    reply.cancel()
    return
  }
  if (reply.kind === 'stream') sendStream(response, reply, options)
  else sendBytes(response, renderBytes(reply, options.dialect), options.headers)
}

function sendBytes(response: ServerResponse, { status, headers, bytes }: BytesReply, gateways: ReplyHeaders): void {
  const list = listHeaders(headers, gateways)
  list.push('content-length', String(bytes.length))
  response.writeHead(status, list)
  response.end(bytes)
}

const CACHE_CONTROL = 'cache-control'

/** Ids that the reply has from its provider, who can be asked about them. */
const IDS: ReadonlySet<string> = new Set(['request-id', 'x-request-id'])

/**
 * Both sets of headers in Node's own form, name, value, …; of a name in both the gateway's own, ids aside. No shared
 * cache may keep a reply, whatever its provider says.
 */
function listHeaders(replys: ReplyHeaders, gateways: ReplyHeaders): string[] {
  const list: (string | string[])[] = []
  if (gateways[CACHE_CONTROL] === undefined) list.push(CACHE_CONTROL, keptPrivate(replys[CACHE_CONTROL]))
  for (const name in replys) {
    if (name === CACHE_CONTROL) continue
    if (gateways[name] === undefined || IDS.has(name)) list.push(name, replys[name] ?? '')
  }
  for (const name in gateways) if (replys[name] === undefined || !IDS.has(name)) list.push(name, gateways[name] ?? '')
  // Node takes a list of values for one name too; its types do not say so.
  return list as string[]
}

function sendStream(
  response: ServerResponse,
  reply: StreamReply,
  { dialect, request, headers, pingIntervalMs }: SendOptions & Addressee,
): void {
  response.writeHead(reply.status, listHeaders(reply.headers, headers))
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
  reply.open({
    write(portion) {
      const bytes = renderer.portion(portion)
      if (bytes.length === 0) return true
      hasBegun = true
      pinger.see(bytes)
      return response.write(bytes)
    },
    end(ending) {
      pinger.stop()
      if (response.destroyed) return
      if (ending.error === undefined) response.end(renderer.end())
      else if (reply.isTorn) response.destroy()
      else response.end(dialect.breakEvent(`The reply broke off: ${ending.error.message}.`))
    },
  })
  // Headers usually go out with the first events, in one write; when those take their time, headers do not wait.
  setImmediate(() => {
    if (!hasBegun && !response.destroyed) response.flushHeaders()
  })
}
