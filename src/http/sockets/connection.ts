import type { IncomingMessage, Server } from 'node:http'
import type { RawData, WebSocket } from 'ws'
import { GatewayError, messageOf } from '../../core/errors.ts'
import { isObject, type JsonObject, tryParseJson } from '../../core/json/json-value.ts'
import type { ClientDialect } from '../../dialects/client-dialect.ts'
import type { ByteCount } from '../body-intake.ts'
import { createRequestId } from '../request-id.ts'
import { announcedEvents, plainHeaders, typeOf, unknownType, withPrevious } from './frames.ts'
import { SocketMemory, type Turn } from './memory.ts'
import { MessageQueue } from './message-queue.ts'
import { type RunningTurn, startTurn, type TurnSink } from './turn.ts'

/**
 * DESIGN: one WebSocket of the Responses API
 *
 *   message ──► queue ──► one turn at a time ──► HTTP request in memory ──► events as text frames
 *                            └──► remembered conversation of the last response
 *
 * Guarantees: messages are answered in order, each by events up to a last one, or by one error frame. A turn ends with its
 * socket. While the client does not read, the turn's provider is not read either.
 * Limits: a message's size, the budget of bodies, the queue, messages without a turn, idle time, lifetime; the socket closes between turns alone.
 * Source: OpenAI, "WebSocket mode"; Open Responses, 2026-04-24.
 */

/** Bounds of a socket; `config/responses.ts` describes them. */
export interface SocketBounds {
  readonly idleMs: number
  readonly lifetimeMs: number
  readonly pingMs: number
  /** Time for which a client may read nothing while frames wait. */
  readonly stallMs: number
  /** Largest conversation that is remembered. */
  readonly mostRemembered: number
}

/** Dependencies of a socket. */
export interface SocketParts {
  readonly server: Server
  readonly upgrade: IncomingMessage
  readonly path: string
  readonly dialect: ClientDialect
  readonly bounds: SocketBounds
  readonly nowMs: () => number
  /** Counts bytes of messages in the budget of request bodies; `drop` abandons them. */
  readonly count: (drop: () => void) => ByteCount
}

/** Messages in a row that need no turn, which alone is counted as a request. */
const MOST_WITHOUT_TURN = 16
const HIGH_WATER_BYTES = 1024 * 1024
const MOST_UNANSWERED_PINGS = 4
const CLOSE = { normal: 1000, goingAway: 1001, unsupported: 1003, policy: 1008 } as const
const LAST_EVENTS: ReadonlySet<string> = new Set(['response.completed', 'response.incomplete', 'response.failed'])
/** Events that repeat the response. */
const LIFECYCLE: ReadonlySet<string> = new Set([...LAST_EVENTS, 'response.created', 'response.in_progress'])
const LIMIT_REACHED = {
  type: 'invalid_request_error',
  code: 'websocket_connection_limit_reached',
  message: 'The connection has reached its longest time. Open another one to continue.',
  param: null,
}

/** A client's WebSocket. */
export class ResponseSocket {
  readonly #socket: WebSocket
  readonly #parts: SocketParts
  readonly #memory: SocketMemory
  readonly #waiting: MessageQueue
  #turn: RunningTurn | undefined
  #closesWith: 'lifetime' | 'drain' | undefined
  #withoutTurn = 0
  #unansweredPings = 0
  readonly #lifetime: NodeJS.Timeout
  readonly #idle: NodeJS.Timeout
  readonly #pings: NodeJS.Timeout
  #stall: NodeJS.Timeout | undefined

  constructor(socket: WebSocket, parts: SocketParts) {
    this.#socket = socket
    this.#parts = parts
    const { idleMs, lifetimeMs, pingMs, mostRemembered } = parts.bounds
    this.#memory = new SocketMemory(mostRemembered)
    this.#waiting = new MessageQueue(parts.upgrade.socket, () => parts.count(() => this.cut()))
    this.#lifetime = setTimeout(() => this.#closeAfterTurn('lifetime'), lifetimeMs)
    this.#idle = setTimeout(() => this.#closeIdle(), idleMs)
    this.#pings = setInterval(() => this.#ping(), pingMs)
    socket.on('message', (data, isBinary) => this.#take(data, isBinary))
    socket.on('pong', () => {
      this.#unansweredPings = 0
    })
    // Frames that break the protocol: the library closes the socket.
    socket.on('error', () => {})
    socket.once('close', () => this.#end())
  }

  /** Closes the socket once its turn has ended; at once if there is none. */
  drain(): void {
    this.#closeAfterTurn('drain')
  }

  /** Ends the connection now, and its turn with it. */
  cut(): void {
    this.#socket.terminate()
  }

  #end(): void {
    clearTimeout(this.#lifetime)
    clearTimeout(this.#idle)
    clearTimeout(this.#stall)
    clearInterval(this.#pings)
    this.#waiting.close()
    this.#turn?.abort()
  }

  #closeIdle(): void {
    if (this.#turn === undefined) this.#socket.close(CLOSE.normal, 'idle')
    else this.#idle.refresh()
  }

  #ping(): void {
    if (this.#unansweredPings++ >= MOST_UNANSWERED_PINGS) this.cut()
    else if (this.#socket.readyState === this.#socket.OPEN) this.#socket.ping()
  }

  #closeAfterTurn(reason: 'lifetime' | 'drain'): void {
    this.#closesWith ??= reason
    if (this.#turn !== undefined) return
    if (this.#closesWith === 'drain') {
      this.#socket.close(CLOSE.goingAway, 'the gateway stops')
      return
    }
    this.#sendError({ status: 400, error: LIMIT_REACHED })
    this.#socket.close(CLOSE.normal, LIMIT_REACHED.code)
  }

  #take(data: RawData, isBinary: boolean): void {
    // Safe: text messages come as one buffer, the default of the library.
    const message = data as Buffer
    this.#waiting.endArrival()
    if (isBinary) this.#socket.close(CLOSE.unsupported, 'messages are text')
    else if (this.#turn === undefined) this.#start(message)
    else if (!this.#waiting.push(message)) this.#socket.close(CLOSE.policy, 'too many messages wait')
  }

  #start(message: Buffer): void {
    if (this.#closesWith !== undefined || this.#socket.readyState !== this.#socket.OPEN) return
    this.#idle.refresh()
    if (this.#withoutTurn++ >= MOST_WITHOUT_TURN) {
      this.#socket.close(CLOSE.policy, 'too many messages without a request')
      return
    }
    try {
      const type = typeOf(message)
      // Codex reports so that it has handled a response.
      if (type === 'response.processed') return
      if (type !== 'response.create') throw unknownType(type)
      const turn = this.#memory.read(message)
      if (turn.generates) this.#run(turn)
      else this.#announce(turn)
    } catch (error) {
      this.#sendThrown(error)
    }
  }

  #run(turn: Turn): void {
    const { server, upgrade, path } = this.#parts
    this.#withoutTurn = 0
    // Set at once: a reply may come before `startTurn` returns.
    const sink = this.#sinkOf(turn)
    this.#turn = startTurn(server, { upgrade, path, body: turn.request.bytes }, sink)
  }

  #sinkOf(turn: Turn): TurnSink {
    let hasLast = false
    return {
      event: (name, data) => {
        const event = LIFECYCLE.has(name) ? tryParseJson(data) : undefined
        if (!isObject(event) || !isObject(event.response)) return this.#send(data)
        if (LAST_EVENTS.has(name)) hasLast = true
        if (name === 'response.failed') this.#memory.forget(turn)
        else if (LAST_EVENTS.has(name)) this.#memory.keep(event.response, turn)
        if (turn.previousId === undefined) return this.#send(data)
        return this.#send(JSON.stringify(withPrevious(event, event.response, turn.previousId)))
      },
      reply: (status, headers, body) => {
        hasLast = true
        this.#memory.forget(turn)
        const parsed = tryParseJson(body)
        const error = isObject(parsed) && isObject(parsed.error) ? parsed.error : { message: 'No stream was answered.' }
        this.#sendError({ status, error, headers: plainHeaders(headers) })
      },
      end: (error) => {
        this.#turn = undefined
        if (!hasLast) this.#memory.forget(turn)
        if (!hasLast && error !== undefined)
          this.#sendThrown(new GatewayError('internal_error', `The reply broke off: ${messageOf(error)}.`))
        this.#next()
      },
    }
  }

  #next(): void {
    this.#idle.refresh()
    if (this.#closesWith !== undefined) this.#closeAfterTurn(this.#closesWith)
    while (this.#turn === undefined) {
      const message = this.#waiting.shift()
      if (message === undefined) return
      this.#start(message)
    }
  }

  /** Answers a request that only announces the next one, which will continue it: no model is called. */
  #announce(turn: Turn): void {
    const { request, previousId } = turn
    const { events, done } = announcedEvents(request, this.#parts.nowMs())
    for (const [sequence_number, event] of events.entries()) {
      const numbered = { ...event, sequence_number }
      this.#send(
        JSON.stringify(previousId === undefined ? numbered : withPrevious(numbered, event.response, previousId)),
      )
    }
    this.#memory.keep(done, turn)
  }

  #sendThrown(error: unknown): void {
    const { dialect } = this.#parts
    const own = error instanceof GatewayError ? error : new GatewayError('internal_error', 'The gateway failed.')
    const shown = dialect.forClient?.(own) ?? own
    const body = dialect.errorBody(shown, createRequestId())
    this.#sendError({ status: shown.status, error: 'error' in body ? body.error : {}, headers: shown.headers })
  }

  #sendError(error: JsonObject): void {
    this.#send(JSON.stringify({ type: 'error', ...error }))
  }

  /** Sends a frame; returns false when the turn has to wait until the client has read more. */
  #send(text: string): boolean {
    const socket = this.#socket
    if (socket.readyState !== socket.OPEN) return true
    socket.send(text, () => {
      if (socket.bufferedAmount >= HIGH_WATER_BYTES) return this.#stall?.refresh()
      clearTimeout(this.#stall)
      this.#stall = undefined
      this.#turn?.resume()
    })
    if (socket.bufferedAmount < HIGH_WATER_BYTES) return true
    this.#stall ??= setTimeout(() => this.cut(), this.#parts.bounds.stallMs)
    return false
  }
}
