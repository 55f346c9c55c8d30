import type { IncomingMessage } from 'node:http'
import { parseBody } from '../dialects/scan-body.ts'
import type { BodyIntake } from './body-intake.ts'
import { assertNoSecret } from './credential.ts'

/** Bytes of a text of 8,000 characters, all escaped, twice. */
const LIMIT_BYTES = 128 * 1024

/** The intake of a route's bodies, and the sender of one. */
export interface ControlSender {
  readonly intake: BodyIntake
  /** The caller's scope, or the user. */
  readonly sender: string
}

/**
 * Reads the JSON body of a control route; returns `{}` without a body. Throws `invalid_request` when it is not JSON or
 * holds a credential, `request_too_large`, `unsupported_media_type`.
 */
export async function readControlBody(request: IncomingMessage, { intake, sender }: ControlSender): Promise<unknown> {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
  const isEmpty = encoding === undefined && Number(length ?? 0) === 0
  const sending = { sender, limitBytes: LIMIT_BYTES }
  const bytes = await (isEmpty ? intake.read(request, sending) : intake.readJson(request, sending))
  if (bytes.length === 0) return {}
  assertNoSecret(bytes.toString(), 'The body', request.headers)
  return parseBody(bytes)
}
