import type { IncomingMessage } from 'node:http'
import { GatewayError } from '../core/errors.ts'

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i

/** Throws `unsupported_media_type` unless the headers declare a body of plain JSON. */
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
