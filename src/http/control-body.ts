import type { IncomingMessage } from 'node:http'
import { GatewayError } from '../core/errors.ts'
import { parseBody } from '../dialects/scan-body.ts'
import type { BodyIntake } from './body-intake.ts'
import { assertJson } from './content-type.ts'
import { assertNoSecret } from './credential.ts'

/** Bytes of a text of 8,000 characters, all escaped, twice. */
const LIMIT_BYTES = 128 * 1024

/** The intake of a route's bodies, and the sender of one. */
export interface ControlSender {
  readonly intake: BodyIntake
  /** The caller's scope, or the user. */
  readonly sender: string
}

/** Bodies that have arrived before their session was read. */
const arrived = new WeakMap<IncomingMessage, Buffer>()

/**
 * Waits until the body of a control route has arrived, and keeps it for the route. Returns true if it arrived late, so that
 * what was read of the session before may be outdated. Throws `request_too_large`.
 */
export async function awaitControlBody(request: IncomingMessage, { intake, sender }: ControlSender): Promise<boolean> {
  if (isEmpty(request) || arrived.has(request)) return false
  const isLate = !request.complete
  arrived.set(request, await intake.read(request, { sender, limitBytes: LIMIT_BYTES }))
  return isLate
}

/**
 * Reads the JSON body of a control route; returns `{}` without a body. Throws `invalid_request` when it is not JSON or
 * holds a credential, `request_too_large`, `unsupported_media_type`.
 */
export async function readControlBody(request: IncomingMessage, from: ControlSender): Promise<unknown> {
  if (isEmpty(request)) return {}
  const bytes = await readControlBytes(request, { ...from, limitBytes: LIMIT_BYTES })
  if (bytes.length === 0) return {}
  assertNoSecret(bytes.toString(), 'The body', request.headers)
  return parseBody(bytes)
}

/** Reads the JSON body of a control route as bytes, for one that holds a credential. Throws like `readControlBody`. */
export async function readControlBytes(
  request: IncomingMessage,
  { intake, sender, limitBytes }: ControlSender & { readonly limitBytes: number },
): Promise<Buffer> {
  assertJson(request)
  const bytes = arrived.get(request) ?? (await intake.read(request, { sender, limitBytes }))
  if (bytes.length <= limitBytes) return bytes
  throw new GatewayError('request_too_large', `Expected a body of at most ${limitBytes} bytes.`)
}

function isEmpty({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0
}
