import type { Exchange } from '../request/exchange.ts'
import type { PartialRequest } from '../request/partial-request.ts'

/** Called for every finished request, whatever its result; must not block. One that throws is logged. */
export type RequestObserver = (record: RequestRecord) => void

/** Facts of a request whose reply has ended. */
export interface RequestRecord {
  readonly exchange: Exchange | undefined
  /** Facts of a request without an exchange; unset where its route reads none. */
  readonly partialRequest: PartialRequest | undefined
  readonly requestId: string
  readonly method: string
  readonly path: string
  /** The pattern of the matched route; unset for none. */
  readonly route: string | undefined
  readonly status: number
  readonly durationMs: number
  /** Milliseconds since 1970. */
  readonly endedAtMs: number
  /** The reply reached the client whole. */
  readonly delivered: boolean
  readonly error: unknown
  /** Hides the request's credentials in a text that repeats parts of it. */
  readonly hide: (text: string) => string
}
