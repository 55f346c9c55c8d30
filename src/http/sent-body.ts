import { createHash, type Hash, hash } from 'node:crypto'
import type { ServerResponse } from 'node:http'

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

const LISTENERS = Symbol('listeners to the body')

/**
 * Calls back for each chunk that is written as the body of a response. Node emits no event for it, so the two methods
 * of this response that accept a body are wrapped, once for all callers.
 */
export function tapBody(response: ServerResponse & { [LISTENERS]?: OnPiece[] }, onPiece: OnPiece): void {
  if (response[LISTENERS] !== undefined) return void response[LISTENERS].push(onPiece)
  const listeners = [onPiece]
  response[LISTENERS] = listeners
  const { write, end } = response
  const take = (chunk: unknown, encoding: unknown, isLast: boolean): void => {
    const piece = pieceOf(chunk, encoding)
    if (piece === undefined || response.writableEnded || response.destroyed) return
    for (const listener of listeners) listener(piece, isLast)
  }
  // Safe: the arguments are passed on unchanged, in any of the overloads of the two methods.
  response.write = ((...args: Parameters<typeof write>) => {
    take(args[0], args[1], false)
    return write.apply(response, args)
  }) as typeof write
  response.end = ((...args: Parameters<typeof end>) => {
    take(args[0], args[1], true)
    return end.apply(response, args)
  }) as typeof end
}

function pieceOf(chunk: unknown, encoding: unknown): Uint8Array | undefined {
  if (chunk instanceof Uint8Array) return chunk
  if (typeof chunk !== 'string') return undefined
  return Buffer.from(chunk, typeof encoding === 'string' && Buffer.isEncoding(encoding) ? encoding : 'utf8')
}
