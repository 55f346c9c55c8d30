import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import type { WebSocketServer } from 'ws'
import { GatewayError } from '../../core/errors.ts'
import type { ClientDialect } from '../../dialects/client-dialect.ts'
import type { BodyIntake } from '../body-intake.ts'
import { ResponseSocket, type SocketBounds } from './connection.ts'

/** Options of `ResponseSockets`; `config/responses.ts` describes the bounds. */
export interface ResponseSocketsOptions {
  readonly dialect: ClientDialect
  readonly bounds: SocketBounds
  /** Largest message, in bytes. */
  readonly mostBytes: number
  readonly most: number
  /** 0: none. */
  readonly mostOfCaller: number
  readonly nowMs: () => number
  /** Counts bytes of a sender's messages in the budget of request bodies. */
  readonly count: BodyIntake['count']
}

/** A request whose connection can become a WebSocket. */
export interface Upgrade {
  readonly request: IncomingMessage
  readonly socket: Duplex
  /** Bytes that have arrived after the request. */
  readonly head: Buffer
}

/** The open WebSockets of the Responses API in this process. */
export class ResponseSockets {
  readonly #options: ResponseSocketsOptions
  readonly #open = new Set<ResponseSocket>()
  readonly #byScope = new Map<string, number>()
  #library: Promise<WebSocketServer> | undefined
  #isDraining = false

  constructor(options: ResponseSocketsOptions) {
    this.#options = options
  }

  /** True if WebSockets are refused, and clients are to use HTTP. */
  get isOff(): boolean {
    return this.#options.mostOfCaller === 0
  }

  /**
   * Makes the connection a WebSocket of the caller; calls `onTaken` before anything is written to it. Throws
   * `rate_limit_error` beyond the caller's maximum, `service_unavailable` beyond that of all, and while the gateway stops.
   */
  async accept(
    upgrade: Upgrade,
    { scope, path, server }: { scope: string; path: string; server: Server },
    onTaken: () => void,
  ): Promise<void> {
    this.#enter(scope)
    const leave = () => this.#leave(scope)
    upgrade.socket.once('close', leave)
    const library = await this.#load()
    const { dialect, bounds, nowMs, count } = this.#options
    onTaken()
    library.handleUpgrade(upgrade.request, upgrade.socket, upgrade.head, (socket) => {
      const opened = new ResponseSocket(socket, {
        ...{ server, upgrade: upgrade.request, path, dialect, bounds, nowMs },
        count: (drop) => count(scope, drop),
      })
      this.#open.add(opened)
      socket.once('close', () => this.#open.delete(opened))
      if (this.#isDraining) opened.drain()
    })
  }

  /** Closes sockets when their turns have ended, and all of them after `timeoutMs`. */
  drain(timeoutMs: number): void {
    this.#isDraining = true
    for (const socket of this.#open) socket.drain()
    setTimeout(() => this.cut(), timeoutMs).unref()
  }

  /** Ends all connections now. */
  cut(): void {
    for (const socket of this.#open) socket.cut()
  }

  #enter(scope: string): void {
    const { most, mostOfCaller } = this.#options
    const own = this.#byScope.get(scope) ?? 0
    if (this.#isDraining) throw new GatewayError('service_unavailable', 'The gateway stops.')
    if (own >= mostOfCaller)
      throw new GatewayError('rate_limit_error', `${mostOfCaller} WebSockets with this credential are open.`)
    let all = 0
    for (const count of this.#byScope.values()) all += count
    if (all >= most) throw new GatewayError('service_unavailable', `${most} WebSockets are open.`)
    this.#byScope.set(scope, own + 1)
  }

  #leave(scope: string): void {
    const own = this.#byScope.get(scope) ?? 0
    if (own > 1) this.#byScope.set(scope, own - 1)
    else this.#byScope.delete(scope)
  }

  /** Loads the library with the first WebSocket: no other request needs it. */
  #load(): Promise<WebSocketServer> {
    this.#library ??= import('ws').then(
      ({ WebSocketServer }) =>
        new WebSocketServer({
          noServer: true,
          clientTracking: false,
          perMessageDeflate: false,
          maxPayload: this.#options.mostBytes,
        }),
    )
    return this.#library
  }
}
