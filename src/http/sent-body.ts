import { createHash, type Hash, hash } from 'node:crypto'
import type { ServerResponse } from 'node:http'

/** What a reply's body was, as far as it was written. */
export interface BodyDigest {
  /** SHA-256, hexadecimal. */
  readonly sha256: string
  readonly bytes: number
}

/**
 * Follows a response; the function that it returns gives, once the response has closed, the digest of all that was written
 * as its body, by whomever: a relayed stream with its pings, an error, what Koa sends for a module.
 */
export function followBody(response: ServerResponse): () => BodyDigest {
  let bytes = 0
  let running: Hash | undefined
  let only: Uint8Array | undefined
  tapBody(response, (piece, isLast) => {
    bytes += piece.length
    // Most bodies are one piece: hashed when the reply is out, and in one call, which costs half.
    if (isLast && running === undefined) {
      only = piece
      return
    }
    running ??= createHash('sha256')
    running.update(piece)
  })
  return () => ({ sha256: running?.digest('hex') ?? hash('sha256', only ?? '', 'hex'), bytes })
}

/**
 * Tells each piece that is written as the body of a response. Node tells of it in no event, so the two methods of this one
 * response that take a body are wrapped.
 */
export function tapBody(response: ServerResponse, onPiece: (piece: Uint8Array, isLast: boolean) => void): void {
  const { write, end } = response
  const take = (args: readonly unknown[], isLast: boolean): void => {
    const piece = pieceOf(args)
    if (piece === undefined || response.writableEnded || response.destroyed) return
    onPiece(piece, isLast)
  }
  // Safe: what is passed on is what came, in each of the forms that the two may be called in.
  response.write = ((...args: Parameters<typeof write>) => {
    take(args, false)
    return write.apply(response, args)
  }) as typeof write
  response.end = ((...args: Parameters<typeof end>) => {
    take(args, true)
    return end.apply(response, args)
  }) as typeof end
}

function pieceOf([chunk, encoding]: readonly unknown[]): Uint8Array | undefined {
  if (chunk instanceof Uint8Array) return chunk
  if (typeof chunk !== 'string') return undefined
  return Buffer.from(chunk, typeof encoding === 'string' && Buffer.isEncoding(encoding) ? encoding : 'utf8')
}
