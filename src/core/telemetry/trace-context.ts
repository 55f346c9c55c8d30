import { hash } from 'node:crypto'

/** Trace and parent span of a request (W3C Trace Context, level 1). */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** The client’s span, 16 hexadecimal digits; `undefined` when the trace begins here. */
  readonly parentId: string | undefined
  /** The client has requested that the trace is kept, or has sent no flag. */
  readonly isSampled: boolean
}

const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/
const SAMPLED = 1
const SPAN_ID_DIGITS = 16

/**
 * Returns the context of a request: the client’s, or one derived from the request’s id, so that nothing has to be kept
 * between the call of a provider and the end of the reply.
 */
export function traceContextOf(requestId: string, headers: NodeJS.Dict<string | string[]>): TraceContext {
  const { traceparent } = headers
  const [whole, traceId, parentId, flags] = (typeof traceparent === 'string' && TRACEPARENT.exec(traceparent)) || []
  if (whole === undefined || traceId === undefined)
    return { traceId: requestId.replace(/^req_/, ''), parentId: undefined, isSampled: true }
  return { traceId, parentId, isSampled: (Number.parseInt(flags ?? '', 16) & SAMPLED) === SAMPLED }
}

/** Returns the id of one of a request’s spans. */
export function spanIdOf(requestId: string, span: 'server' | 'provider'): string {
  return hash('sha256', `${requestId} ${span}`, 'hex').slice(0, SPAN_ID_DIGITS)
}

/** Returns the `traceparent` header for a provider. */
export function traceparentFor(requestId: string, headers: NodeJS.Dict<string | string[]>): string {
  const { traceId, isSampled } = traceContextOf(requestId, headers)
  return `00-${traceId}-${spanIdOf(requestId, 'provider')}-${isSampled ? '01' : '00'}`
}
