import type { IncomingMessage } from 'node:http'
import { GatewayError } from '../core/errors.ts'

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
    const chunks: Buffer[] = []
    let size = 0
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= limitBytes) return void chunks.push(chunk)
      // The rest is thrown away, until `body_timeout`: closing on a client that still writes would lose it the reply.
      request.removeAllListeners('data').resume()
      reject(tooLarge(limitBytes))
    })
    request.once('end', () =>
      resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, size)),
    )
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
