import type { Socket } from 'node:net'

/**
 * Resets a connection. One whose end is still on its way is closed: libuv refuses to reset it, and Node would then
 * neither close it nor end its thread.
 */
export function resetSocket(socket: Socket): void {
  if (socket.writableEnded && !socket.writableFinished) socket.destroy()
  else socket.resetAndDestroy()
}
