import type { Exchange } from '../request/exchange.ts'
import type { PartialRequest } from '../request/partial-request.ts'

/** Told about every finished request, whatever became of it; must not throw and must not block. */
export type RequestObserver = (record: RequestRecord) => void

/** What is known of a request once its reply has ended. */
export interface RequestRecord {
  readonly exchange: Exchange | undefined
  /** What was known of a request without an exchange; unset where its route reads nothing of the kind. */
  readonly partialRequest: PartialRequest | undefined
  readonly requestId: string
  readonly method: string
  readonly path: string
  /** The pattern of the route that the path has matched; unset when there was none. */
  readonly route: string | undefined
  readonly status: number
  readonly durationMs: number
  /** The reply reached the client whole. */
  readonly delivered: boolean
  readonly error: unknown
  /** Hides what the request presented as credentials in a text that repeats what it sent. */
  readonly hide: (text: string) => string
}
