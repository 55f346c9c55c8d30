import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { ObservedResponse } from '../sent-body.ts'
import type { Upgrade } from './sockets.ts'

const upgrades = new WeakMap<IncomingMessage, Upgrade & { readonly server: Server }>()

/** Matches the key of a handshake: 16 bytes in base64 (RFC 6455, section 4.2.1). */
const KEY = /^[+/0-9A-Za-z]{22}==$/
const VERSION = '13'

/** Returns true for a valid handshake of a WebSocket at a path. */
export function isHandshake({ method, headers, url = '' }: IncomingMessage, path: string): boolean {
  if (headers.upgrade?.toLowerCase() !== 'websocket' || method !== 'GET' || url.split('?', 1)[0] !== path) return false
  return headers['sec-websocket-version'] === VERSION && KEY.test(headers['sec-websocket-key'] ?? '')
}

/**
 * Passes handshakes to the listener of requests, which refuses them like any request, or takes the connection over: Node detaches
 * it from its parser, so the response is attached by hand.
 */
export function serveUpgrades(server: Server, listener: RequestListener): void {
  server.on('upgrade', (request, duplex: Duplex, head) => {
    const socket = duplex as Socket // safe: connections of a server that listens on TCP
    const response = new ObservedResponse(request)
    response.shouldKeepAlive = false
    response.assignSocket(socket)
    const ignore = () => {}
    socket.on('error', ignore)
    response.once('finish', () => {
      response.detachSocket(socket)
      socket.destroySoon()
      response.emit('close')
    })
    upgrades.set(request, { request, socket, head, server })
    listener(request, response)
  })
}

/** Returns the connection of a handshake; `undefined` for any other request. */
export function upgradeOf(request: IncomingMessage): (Upgrade & { readonly server: Server }) | undefined {
  return upgrades.get(request)
}

/** Takes the connection of a handshake from its response, which ends without being sent. */
export function takeOver({ socket }: Upgrade, response: ServerResponse): void {
  response.statusCode = 101
  response.detachSocket(socket as Socket) // safe: as above
  response.emit('close')
}
