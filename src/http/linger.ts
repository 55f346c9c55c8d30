import type { ServerResponse } from 'node:http'

/** Silence after which a client is taken to wait for the end or to have stalled, in milliseconds. */
const LONGEST_SILENCE_MS = 2000
/** Longest time after the reply, in milliseconds. */
const LONGEST_MS = 30_000

/**
 * Keeps reading a request after a reply that was sent before its end. With `connection: close`, Node closes the socket
 * after such a reply, and the kernel resets it when more data arrives, which discards a reply that the client has not
 * read (RFC 9112, section 9.6). Here it is half-closed until the request ends or the client is silent. The parser
 * accepts no further request on a connection with `connection: close`.
 */
export function lingerAfterReply({ req: request, shouldKeepAlive }: ServerResponse): void {
  const { socket } = request
  if (shouldKeepAlive || request.complete || socket.destroyed) return
  const closeAtOnce = socket.destroySoon.bind(socket)
  // Node calls this when the reply is written.
  socket.destroySoon = () => {
    if (request.complete) return closeAtOnce()
    const close = () => void socket.destroy()
    const silence = setTimeout(close, LONGEST_SILENCE_MS)
    const limit = setTimeout(close, LONGEST_MS)
    request.on('data', () => silence.refresh()).once('end', close)
    socket.once('close', () => {
      clearTimeout(silence)
      clearTimeout(limit)
    })
    socket.end()
  }
}
