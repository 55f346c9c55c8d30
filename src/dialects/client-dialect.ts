import type { GatewayError } from '../core/errors.ts'
import type { EventTranslator } from '../core/reply/event-translator.ts'
import type { BytesReply } from '../core/reply/reply.ts'
import type { DialectName } from '../core/reply/reply-dialect.ts'
import type { ClientRequest } from '../core/request/client-request.ts'

/** The API shape of a client: parses its requests and renders replies for it. */
export interface ClientDialect {
  readonly name: DialectName
  /** The reply header in which its clients expect the request's id. */
  readonly requestIdHeader: string
  /** Parses the body of a request of this scope. Throws `invalid_request` that names the field or the position. */
  parse(bytes: Buffer, scope?: string): ClientRequest
  /** Renders a JSON reply of the canonical dialect, to `request`, in this one. */
  render(reply: BytesReply, request: ClientRequest): BytesReply
  /** Creates a translator from canonical events to this dialect's. */
  createTranslator(request: ClientRequest): EventTranslator
  /** Returns one of the gateway's own errors with the status, headers and fields that its clients act on; unset: unchanged. */
  readonly forClient?: (error: GatewayError) => GatewayError
  /** Builds the body of one of the gateway's own errors. */
  errorBody(error: GatewayError, requestId: string): object
  /** Keep-alive of an idle stream, and the events between which it may be sent. */
  readonly ping: PingRules
  /** Returns the event that reports a broken stream whose events are in this dialect already. */
  breakEvent(message: string, passed: PassedPortions): string
}

/** Portions of a stream with events that have passed on unchanged, for the event that ends it. */
export interface PassedPortions {
  readonly first: Buffer | undefined
  readonly last: Buffer | undefined
  /** The request; unset for a relayed reply of a stored response. */
  readonly request: ClientRequest | undefined
}

/** Rules for pings: they are sent in an idle stream, after the first event and before the last. */
export interface PingRules {
  readonly text: string
  /** Text in the first event; unset where a ping is no event and may come first. */
  readonly from: string | undefined
  /** Text in the last event; an event that contains it is the last. */
  readonly until: string
  isLast(name: string, data: string): boolean
}
