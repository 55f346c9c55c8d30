import type { ServerResponse } from 'node:http'
import type { BytesReply, Reply, ReplyHeaders, StreamReply } from '../core/reply.ts'
import { printEvent } from '../core/sse.ts'

/** How replies are sent. */
export interface SendOptions {
  /** Silence on a stream after which a `ping` is sent, in milliseconds. */
  readonly pingIntervalMs: number
}

const PING = printEvent({ type: 'ping' })

/**
 * Sends a reply: its bytes as they are. On a stream a silence is broken by `ping` events, and a break is told by an
 * `error` event in the provider's shape; both only between whole events.
 */
export function sendReply(
  response: ServerResponse,
  reply: Reply,
  options: SendOptions & { headers: ReplyHeaders },
): void {
  if (response.destroyed) {
    reply.cancel()
    return
  }
  const headers = listHeaders(reply.headers, options.headers)
  if (reply.kind === 'bytes') sendBytes(response, reply, headers)
  else sendStream(response, reply, { headers, pingIntervalMs: options.pingIntervalMs })
}

/** Both sets of headers in Node's own form, name, value, …; a name of the reply's own wins. */
function listHeaders(replys: ReplyHeaders, gateways: ReplyHeaders): string[] {
  const list: (string | string[])[] = []
  for (const name in replys) list.push(name, replys[name] ?? '')
  for (const name in gateways) if (replys[name] === undefined) list.push(name, gateways[name] ?? '')
  // Node takes a list of values for one name too; its types do not say so.
  return list as string[]
}

function sendBytes(response: ServerResponse, { status, bytes }: BytesReply, headers: string[]): void {
  headers.push('content-length', String(bytes.length))
  response.writeHead(status, headers)
  response.end(bytes)
}

function sendStream(
  response: ServerResponse,
  reply: StreamReply,
  { headers, pingIntervalMs }: { headers: string[]; pingIntervalMs: number },
): void {
  response.writeHead(reply.status, headers)
  let hasBegun = false
  const pinger = setTimeout(() => {
    if (response.writableNeedDrain || reply.isTorn) return
    response.write(PING)
    pinger.refresh()
  }, pingIntervalMs)
  response.on('drain', () => {
    pinger.refresh()
    reply.resume()
  })
  response.once('close', () => {
    clearTimeout(pinger)
    reply.cancel()
  })
  reply.open({
    write(portion) {
      hasBegun = true
      pinger.refresh()
      return response.write(portion)
    },
    end(ending) {
      clearTimeout(pinger)
      if (response.destroyed) return
      if (ending.error === undefined) response.end()
      else if (reply.isTorn) response.destroy()
      else response.end(breakEvent(ending.error))
    },
  })
  // Headers usually go out with the first events, in one write; when those take their time, headers do not wait.
  setImmediate(() => {
    if (!hasBegun && !response.destroyed) response.flushHeaders()
  })
}

function breakEvent(cause: Error): string {
  const message = `The reply broke off: ${cause.message}.`
  const event = { type: 'error', error: { type: 'api_error', message } }
  return printEvent(event)
}
