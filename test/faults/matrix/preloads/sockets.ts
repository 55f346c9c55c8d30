import { subscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import type { Dispatcher } from 'undici'

/** Returns undici's client of a connection; the gateway's copy of undici is part of its bundle. */
function clientOf(socket: Socket): Dispatcher | undefined {
  const members = Object.getOwnPropertySymbols(socket).map((name): unknown => Reflect.get(socket, name))
  const parser = members.find((member) => typeof member === 'object' && member !== null && 'client' in member)
  return (parser as { client: Dispatcher } | undefined)?.client // safe: undici's parser of HTTP/1.1
}

/** Preloaded into a gateway: its connections to providers refuse to be closed. */
subscribe('undici:client:sendHeaders', (message) => {
  const { socket } = message as { socket: Socket }
  const client = clientOf(socket)
  if (client === undefined) throw new Error('undici has changed: this connection has no client')
  const dispatcher: Dispatcher = Object.getPrototypeOf(Object.getPrototypeOf(client))
  dispatcher.destroy = () => Promise.reject(new Error('the connections refuse to close'))
})
