import { createHash, type Hash, hash } from 'node:crypto'
import { type IncomingMessage, ServerResponse } from 'node:http'

/** Digest and size of a reply's body, as far as it was written. */
export interface BodyDigest {
  /** SHA-256 in hexadecimal. */
  readonly sha256: string
  readonly bytes: number
}

/**
 * Observes a response. Returns a function that returns, once the response has closed, the digest of all bytes written
 * as its body by any writer: a relayed stream with its pings, an error, a body that Koa sends for a plugin.
 */
export function followBody(response: ServerResponse): () => BodyDigest {
  let bytes = 0
  let running: Hash | undefined
  let only: Uint8Array | undefined
  tapBody(response, (piece, isLast) => {
    bytes += piece.length
    // Most bodies are one chunk: hashed in one call after the reply is written, at half the cost.
    if (isLast && running === undefined) {
      only = piece
      return
    }
    running ??= createHash('sha256')
    running.update(piece)
  })
  return () => ({ sha256: running?.digest('hex') ?? hash('sha256', only ?? '', 'hex'), bytes })
}

type OnPiece = (piece: Uint8Array, isLast: boolean) => void
type OnWritten = (error: Error | null | undefined) => void

/**
 * A response of the gateway's server, whose body can be observed. Node emits no event for what is written, and functions of
 * its own on each response cost more than they do: V8 then kept whole requests until a collection of the old generation.
 */
export class ObservedResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  #listeners: OnPiece[] | undefined

  /** Calls back for each chunk that is written as the body. */
  tap(onPiece: OnPiece): void {
    if (this.#listeners === undefined) this.#listeners = [onPiece]
    else this.#listeners.push(onPiece)
  }

  override write(chunk: unknown, encoding?: BufferEncoding | OnWritten, onWritten?: OnWritten): boolean {
    if (this.#listeners !== undefined) this.#take(this.#listeners, pieceOf(chunk, encoding), false)
    // Safe: the arguments are those of one of the overloads.
    return super.write(chunk, encoding as BufferEncoding, onWritten)
  }

  override end(chunk?: unknown, encoding?: BufferEncoding | (() => void), onFinished?: () => void): this {
    if (this.#listeners !== undefined) this.#take(this.#listeners, pieceOf(chunk, encoding), true)
    // Safe: the arguments are those of one of the overloads.
    return super.end(chunk, encoding as BufferEncoding, onFinished)
  }

  #take(listeners: readonly OnPiece[], piece: Uint8Array | undefined, isLast: boolean): void {
    if (piece === undefined || this.writableEnded || this.destroyed) return
    for (const listener of listeners) listener(piece, isLast)
  }
}

/** Calls back for each chunk that is written as the body of a response of the gateway's server. */
export function tapBody(response: ServerResponse, onPiece: OnPiece): void {
  if (!(response instanceof ObservedResponse)) throw new TypeError('The response is not one of the gateway’s server.')
  response.tap(onPiece)
}

function pieceOf(chunk: unknown, encoding: unknown): Uint8Array | undefined {
  if (chunk instanceof Uint8Array) return chunk
  if (typeof chunk !== 'string') return undefined
  return Buffer.from(chunk, typeof encoding === 'string' && Buffer.isEncoding(encoding) ? encoding : 'utf8')
}
