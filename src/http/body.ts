import type { IncomingMessage } from 'node:http'
import { GatewayError } from '../core/errors.ts'
import { Pieces } from '../core/pieces.ts'

/** Reads a request's JSON body like `readBody`. Throws `unsupported_media_type` when it is not said to be JSON. */
export function readJsonBody(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  assertJson(request)
  return readBody(request, limitBytes)
}

/**
 * Reads a request's body as raw bytes, at most `limitBytes`. Throws `request_too_large` (while the body still arrives),
 * or `invalid_request` when the client leaves half-way.
 */
export function readBody(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  const announced = Number(request.headers['content-length'] ?? 0)
  if (announced > limitBytes) return Promise.reject(tooLarge(limitBytes))
  return new Promise((resolve, reject) => {
    const pieces = new Pieces()
    request.on('data', (chunk: Buffer) => {
      if (pieces.bytes + chunk.length <= limitBytes) return pieces.add(chunk)
      // The rest is thrown away, until `body_timeout`: closing on a client that still writes would lose it the reply.
      request.removeAllListeners('data').resume()
      reject(tooLarge(limitBytes))
    })
    request.once('end', () => resolve(pieces.take()))
    request.once('error', (cause) =>
      reject(new GatewayError('invalid_request', 'The request ended before its body was complete.', { cause })),
    )
  })
}

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i

/** Throws `unsupported_media_type` when a body is not said to be JSON, as it is. */
export function assertJson({ headers }: IncomingMessage): void {
  const type = headers['content-type'] ?? ''
  if (!JSON_TYPE.test(type)) {
    throw new GatewayError(
      'unsupported_media_type',
      `Expected content-type \`application/json\`, got \`${type.slice(0, 100)}\`.`,
    )
  }
  const encoding = headers['content-encoding'] ?? 'identity'
  if (encoding !== 'identity') {
    throw new GatewayError(
      'unsupported_media_type',
      `Expected a body without content-encoding, got \`${encoding.slice(0, 100)}\`.`,
    )
  }
}

function tooLarge(limitBytes: number): GatewayError {
  return new GatewayError('request_too_large', `Expected a body of at most ${limitBytes} bytes.`)
}
