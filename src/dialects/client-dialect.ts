import type { GatewayError } from '../core/errors.ts'
import type { EventTranslator } from '../core/reply/event-translator.ts'
import type { BytesReply } from '../core/reply/reply.ts'
import type { DialectName } from '../core/reply/reply-dialect.ts'
import type { ClientRequest } from '../core/request/client-request.ts'

/** A shape in which clients ask and read: how bodies are taken in, and how whatever comes back is put. */
export interface ClientDialect {
  readonly name: DialectName
  /** The reply header in which its clients look for the request's id. */
  readonly requestIdHeader: string
  /** Takes in a request's body. Throws `invalid_request` that names the field or the position. */
  parse(bytes: Buffer): ClientRequest
  /** A JSON reply of the canonical dialect, in this one. */
  render(reply: BytesReply): BytesReply
  /** Puts a stream of canonical events into this dialect's. */
  createTranslator(request: ClientRequest): EventTranslator
  /** The body of an error of the gateway's own. */
  errorBody(error: GatewayError, requestId: string): object
  /** What breaks a silence in a stream, and between which signs in it that may be. */
  readonly ping: PingRules
  /** Tells that a stream has broken off. */
  breakEvent(message: string): string
}

/** When a stream is pinged: in a silence behind the first sign and before the last. */
export interface PingRules {
  readonly text: string
  /** Text that the first event holds; unset where a ping is no event and may come first. */
  readonly from: string | undefined
  /** Text that the last event holds, and whether an event that holds it is the last. */
  readonly until: string
  isLast(name: string, data: string): boolean
}
