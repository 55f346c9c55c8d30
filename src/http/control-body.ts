import type { IncomingMessage } from 'node:http'
import { GatewayError } from '../core/errors.ts'
import { locateJsonError } from '../core/json-error.ts'
import { readBody, readJsonBody } from './body.ts'

/** A text of 8,000 characters, each of them escaped, and as much again. */
const LIMIT_BYTES = 128 * 1024

/**
 * Reads the JSON body of a control route; without a body it is `{}`. Throws `invalid_request` that says where it stops
 * being JSON, `request_too_large`, `unsupported_media_type`.
 */
export async function readControlBody(request: IncomingMessage): Promise<unknown> {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
  const isEmpty = encoding === undefined && Number(length ?? 0) === 0
  const bytes = await (isEmpty ? readBody : readJsonBody)(request, LIMIT_BYTES)
  if (bytes.length === 0) return {}
  try {
    return JSON.parse(UTF8.decode(bytes))
  } catch {
    const { line, column, message } = locateJsonError(bytes)
    throw new GatewayError(
      'invalid_request',
      `The body is not valid JSON at line ${line}, column ${column}: ${message}.`,
    )
  }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true })
