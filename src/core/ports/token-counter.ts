import type { DialectName } from '../reply/reply-dialect.ts'
import type { RequestDocument } from '../request/request.ts'

/** Estimates tokens, for whoever cannot ask the provider. */
export interface TokenCounter {
  /**
   * Input tokens of a request for a model, by its provider's name; a whole number of 1 or more. `dialect` is that of the
   * document; default: the canonical one. Never throws.
   */
  inputTokens(request: RequestDocument, model: string, dialect?: DialectName): number
  /** Learns from an answer how many input tokens its provider has counted, those of its cache included. */
  learn?(request: RequestDocument, model: string, counted: number): void
  /** The counter of one caller, by its scope, which alone learns from that caller's answers. */
  forCaller?(scope: string): TokenCounter
}
