import { EventEmitter } from 'node:events'
import test from 'ava'
import type { WebSocket } from 'ws'
import { fakeTimers } from '../../../test/support/fake-timers.ts'
import { ResponseSocket, type SocketParts } from './connection.ts'

const HOUR_MS = 3_600_000

/** A client's WebSocket whose connection is full, and takes a frame on demand. */
class FullSocket extends EventEmitter {
  readonly OPEN = 1
  readonly readyState = 1
  readonly bufferedAmount = 2 * 1024 * 1024
  isCut = false
  readonly #waiting: (() => void)[] = []

  send(_: string, onTaken: () => void): void {
    this.#waiting.push(onTaken)
  }

  takeFrame(): void {
    this.#waiting.shift()?.()
  }

  terminate(): void {
    this.isCut = true
  }
}

test('response socket: a client that reads slowly is not cut, one that reads nothing is', (t) => {
  const pass = fakeTimers(t)
  const socket = new FullSocket()
  const bounds = { idleMs: HOUR_MS, lifetimeMs: HOUR_MS, pingMs: HOUR_MS, stallMs: 1000, mostRemembered: 0 }
  const parts = {
    bounds,
    dialect: { errorBody: () => ({ error: {} }) },
    nowMs: () => 0,
    upgrade: { socket: new EventEmitter() },
    count: () => ({ add() {}, end() {} }),
  }
  // Safe: no other members are used for a message that is refused.
  new ResponseSocket(socket as unknown as WebSocket, parts as unknown as SocketParts)
  t.teardown(() => socket.emit('close'))
  for (let i = 0; i < 2; i++) socket.emit('message', Buffer.from('no JSON'), false)
  pass(900)
  socket.takeFrame()
  pass(900)
  t.false(socket.isCut)
  pass(100)
  t.true(socket.isCut)
})
