import type { ServerResponse } from 'node:http'

/** A client that sends nothing for so long is waiting for the end, or stalls. */
const LONGEST_SILENCE_MS = 2000
/** From the reply on. */
const LONGEST_MS = 30_000

/**
 * Lets a request go on arriving behind a reply that does not wait for its end. Node closes the connection with such a reply
 * when the client has asked for it, and the system answers what still arrives with a reset, which throws away a reply that
 * the client has not read (RFC 9112, section 9.6). Here it is half-closed instead, until the request has ended, or its
 * client is silent. The parser takes no further request on a connection whose client has asked to close it.
 */
export function lingerAfterReply({ req: request, shouldKeepAlive }: ServerResponse): void {
  const { socket } = request
  if (shouldKeepAlive || request.complete || socket.destroyed) return
  const closeAtOnce = socket.destroySoon.bind(socket)
  // Node calls this when the reply is out.
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
