import type { IncomingMessage } from 'node:http'
import { parseBody } from '../dialects/scan-body.ts'
import { readBody, readJsonBody } from './body.ts'
import { assertNoSecret } from './credential.ts'

/** A text of 8,000 characters, each of them escaped, and as much again. */
const LIMIT_BYTES = 128 * 1024

/**
 * Reads the JSON body of a control route; without a body it is `{}`. Throws `invalid_request` when it is not JSON, or holds
 * a credential, `request_too_large`, `unsupported_media_type`.
 */
export async function readControlBody(request: IncomingMessage): Promise<unknown> {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
  const isEmpty = encoding === undefined && Number(length ?? 0) === 0
  const bytes = await (isEmpty ? readBody : readJsonBody)(request, LIMIT_BYTES)
  if (bytes.length === 0) return {}
  assertNoSecret(bytes.toString(), 'The body', request.headers)
  return parseBody(bytes)
}
