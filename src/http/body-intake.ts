import type { IncomingMessage } from 'node:http'
import { GatewayError } from '../core/errors.ts'
import { ChunkBuffer } from '../core/reply/chunk-buffer.ts'
import { type Arrival, ArrivingBytes } from './arriving-bytes.ts'
import { assertJson } from './content-type.ts'

/** Bounds on the bodies of one class of clients. */
export interface IntakeBounds {
  /** Largest size of one body, in bytes. */
  readonly limitBytes: number
  /** Bytes of all arriving bodies together. */
  readonly budgetBytes: number
  /** Longest time for one body to arrive, in milliseconds. Default: the server's time-out for whole requests. */
  readonly timeoutMs?: number
}

/** Bytes of one body in the budget of all. */
export interface ByteCount {
  add(bytes: number): void
  /** Releases the bytes; nothing is added after it. Idempotent. */
  end(): void
}

/** The two intakes of a gateway; every body is read through one of them. */
export interface Intakes {
  /** For clients with a valid credential. */
  readonly callers: BodyIntake
  /** For clients without one: calls before they are paid, quotes, webhooks. */
  readonly strangers: BodyIntake
}

/** A body's sender, and the largest size that its route accepts. */
export interface Sending {
  /** The caller's scope; without one, the client's subnet. */
  readonly sender: string
  /** Largest size in bytes. Default: the intake's limit. */
  readonly limitBytes?: number
}

/** Reads request bodies, with a bound on each and on all together. */
export class BodyIntake {
  readonly #bounds: IntakeBounds
  readonly #arriving: ArrivingBytes

  constructor(bounds: IntakeBounds) {
    this.#bounds = bounds
    this.#arriving = new ArrivingBytes(Math.max(bounds.budgetBytes, bounds.limitBytes))
  }

  /** Counts bytes of a body that is read elsewhere; calls `drop` to abandon it when the budget is exceeded. */
  count(sender: string, drop: () => void): ByteCount {
    const arrival: Arrival = { sender, bytes: 0, drop }
    return { add: (bytes) => this.#arriving.add(arrival, bytes), end: () => this.#arriving.remove(arrival) }
  }

  /** Reads a JSON body like `read`. Throws `unsupported_media_type` for another type or a content coding. */
  readJson(request: IncomingMessage, sending: Sending): Promise<Buffer> {
    assertJson(request)
    return this.read(request, sending)
  }

  /**
   * Reads a request's body as raw bytes. Throws `request_too_large` (while the body still arrives), `request_timeout`,
   * `service_unavailable` when the budget of arriving bytes is exceeded, `invalid_request` when the client disconnects.
   */
  read(request: IncomingMessage, { sender, limitBytes = this.#bounds.limitBytes }: Sending): Promise<Buffer> {
    const announced = Number(request.headers['content-length'] ?? 0)
    if (announced > limitBytes) return Promise.reject(tooLarge(limitBytes))
    return new Promise((resolve, reject) => {
      const pieces = new ChunkBuffer({ expectedBytes: announced > 0 ? announced : limitBytes, ownsChunks: true })
      const leave = () => {
        clearTimeout(timer)
        this.#arriving.remove(arrival)
      }
      const refuse = (error: GatewayError) => {
        leave()
        // The rest is discarded until `body_timeout`: a client that still writes would lose the reply to a closed
        // connection.
        request.removeAllListeners('data').resume()
        pieces.take()
        reject(error)
      }
      const arrival: Arrival = { sender, bytes: 0, drop: () => refuse(tooMuchAtOnce()) }
      const timer = this.#startTimer(refuse)
      request.on('data', (chunk: Buffer) => {
        if (pieces.bytes + chunk.length > limitBytes) return refuse(tooLarge(limitBytes))
        pieces.add(chunk)
        this.#arriving.add(arrival, chunk.length)
      })
      request.once('end', () => {
        leave()
        resolve(pieces.take())
      })
      request.once('error', (cause) => {
        leave()
        reject(new GatewayError('invalid_request', 'The request ended before its body was complete.', { cause }))
      })
    })
  }

  #startTimer(refuse: (error: GatewayError) => void): NodeJS.Timeout | undefined {
    const { timeoutMs } = this.#bounds
    return timeoutMs === undefined ? undefined : setTimeout(() => refuse(tooSlow(timeoutMs)), timeoutMs)
  }
}

function tooLarge(limitBytes: number): GatewayError {
  return new GatewayError('request_too_large', `Expected a body of at most ${limitBytes} bytes.`)
}

/** Builds the refusal of a body beyond the budget. */
export function tooMuchAtOnce(): GatewayError {
  return new GatewayError('service_unavailable', 'Too many request bodies arrive at the same time. Send it again soon.')
}

/** Closes the connection with the reply: a stalled client would occupy it until `server.body_timeout`. */
function tooSlow(timeoutMs: number): GatewayError {
  return new GatewayError('request_timeout', `Expected the whole body within ${timeoutMs / 1000} s.`, {
    headers: { connection: 'close' },
  })
}
