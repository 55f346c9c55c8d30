import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDrill } from './drill.ts'
import { accepts, freePort } from './ports.ts'
import { resetSocket } from './reset-socket.ts'

/*
 * DESIGN. A network link that a test can break: a relay on loopback between a gateway and one of its servers.
 *
 *   gateway ──► proxy ──► Redis, PostgreSQL, provider, Stripe
 *                 └ the fate of each chunk is decided when it arrives, and again when the fault is lifted
 *
 * Bytes that a fault has held back are delivered when it is lifted, as after a real network fault.
 */

/** Faults of the network, or of the machine at its end. */
export type LinkFault =
  /** No listener: connections are refused, open ones are reset. */
  | { readonly kind: 'refuses' }
  /** Connections are accepted and nothing arrives: neither answers to new ones nor the rest of those in flight. */
  | { readonly kind: 'hangs' }
  /** The same, for good: the network has dropped the connections of that time, and notifies neither end. */
  | { readonly kind: 'forgets' }
  /** The first half of an answer arrives, and nothing more. */
  | { readonly kind: 'stalls' }
  /** Each chunk takes so long, each way. */
  | { readonly kind: 'slow'; readonly delayMs: number }
  /** Each connection is reset as soon as bytes are sent on it. */
  | { readonly kind: 'resets' }
  /** Everything sent is answered with these bytes; default: garbage. */
  | { readonly kind: 'answers'; readonly bytes?: Buffer }

/** A relay in front of one server. */
export interface FaultProxy {
  readonly port: number
  /** Address of the relay, with the scheme and path of the server's own. */
  readonly url: string
  /** Sets the fault from now on, for open connections as well; `undefined`: none. */
  set(fault: LinkFault | undefined): Promise<void>
  /** Number of open connections from the gateway. */
  connections(): number
  close(): Promise<void>
}

const GARBAGE_BYTES = 200
/** No protocol's answer begins with these bytes; of random bytes one in some hundred is an answer of Redis. */
const GARBAGE = Buffer.from(Array.from({ length: GARBAGE_BYTES }, (_, index) => 128 + ((index * 37) % 128)))

/** Opens a relay in front of the server at this address. */
export async function startFaultProxy(targetUrl: string): Promise<FaultProxy> {
  const target = new URL(targetUrl)
  const port = await freePort()
  const relay = new Relay(Number(target.port), port)
  await relay.listen()
  const url = targetUrl.replace(target.host, `127.0.0.1:${port}`)
  return { port, url, set: (fault) => relay.set(fault), connections: () => relay.size, close: () => relay.close() }
}

const REFUSED_POLL_MS = 5

class Relay {
  readonly #targetPort: number
  readonly #port: number
  readonly #sockets = new Set<Socket>()
  readonly #forgotten = new WeakSet<Socket>()
  #server: Server | undefined
  #fault: LinkFault | undefined
  #changed = Promise.withResolvers<void>()

  constructor(targetPort: number, port: number) {
    this.#targetPort = targetPort
    this.#port = port
  }

  get size(): number {
    return this.#sockets.size / 2
  }

  async listen(): Promise<void> {
    this.#server = createServer((client) => this.#join(client)).listen(this.#port, '127.0.0.1')
    await once(this.#server, 'listening')
  }

  async set(fault: LinkFault | undefined): Promise<void> {
    this.#fault = fault
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
    if (fault?.kind === 'forgets') for (const socket of this.#sockets) this.#forgotten.add(socket)
    if (fault?.kind === 'refuses' || fault?.kind === 'resets') this.#resetAll()
    if (fault?.kind === 'refuses') await this.#unlisten()
    else if (this.#server === undefined) await this.listen()
  }

  async close(): Promise<void> {
    await this.set({ kind: 'refuses' })
  }

  async #unlisten(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    if (server === undefined) return
    const closed = once(server, 'close')
    server.close()
    this.#resetAll() // one may have been taken since
    await closed
    while (await accepts(this.#port)) await sleep(REFUSED_POLL_MS)
  }

  #resetAll(): void {
    for (const socket of this.#sockets) resetSocket(socket)
  }

  #join(client: Socket): void {
    const server = connect({ port: this.#targetPort, host: '127.0.0.1' })
    const ends = [client, server] as const
    for (const [here, there] of [ends, [server, client]] as const) {
      this.#sockets.add(here)
      if (this.#fault?.kind === 'forgets') this.#forgotten.add(here)
      here.setNoDelay(true)
      here.on('error', () => {}) // `close` follows
      here.once('close', () => {
        this.#sockets.delete(here)
        there.destroy()
      })
    }
    void this.#relay(client, server, 'there')
    void this.#relay(server, client, 'back')
  }

  /** Relays until one of the two is closed. */
  async #relay(from: Socket, to: Socket, way: 'there' | 'back'): Promise<void> {
    try {
      for await (const piece of from) await this.#pass(piece as Buffer, { from, to, way })
      to.end()
    } catch {
      to.destroy() // `close` reports the error
    }
  }

  async #pass(piece: Buffer, { from, to, way }: { from: Socket; to: Socket; way: 'there' | 'back' }): Promise<void> {
    if (this.#forgotten.has(from)) return new Promise(() => {}) // until one of the two is closed
    const fault = this.#fault
    switch (fault?.kind) {
      case undefined:
      case 'forgets':
        return write(to, piece)
      case 'slow':
        await sleep(fault.delayMs)
        return write(to, piece)
      case 'hangs':
      case 'stalls': {
        const half = fault.kind === 'stalls' && way === 'back' ? Math.ceil(piece.length / 2) : 0
        if (fault.kind === 'stalls' && way === 'there') return write(to, piece)
        if (half > 0) await write(to, piece.subarray(0, half))
        await this.#changed.promise
        return this.#pass(piece.subarray(half), { from, to, way })
      }
      case 'answers':
        return void (way === 'there' ? from : to).write(fault.bytes ?? (isDrill ? randomBytes(GARBAGE_BYTES) : GARBAGE))
      case 'refuses':
      case 'resets':
        resetSocket(from)
        resetSocket(to)
    }
  }
}

async function write(to: Socket, piece: Buffer): Promise<void> {
  if (!to.write(piece) && !to.destroyed) await Promise.race([once(to, 'drain'), once(to, 'close')])
}
