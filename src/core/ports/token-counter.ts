import type { DialectName } from '../reply/reply-dialect.ts'
import type { RequestDocument } from '../request/request.ts'

/** Estimates tokens where the provider cannot be asked for a count. */
export interface TokenCounter {
  /**
   * Estimates the input tokens of a request for a model, by its provider's name; a whole number of 1 or more. `dialect` is
   * that of the document; default: the canonical one. Never throws.
   */
  inputTokens(request: RequestDocument, model: string, dialect?: DialectName): number
  /**
   * Returns a number that the input tokens of a request of text never exceed, from its size. `undefined` where the body may
   * have more tokens than bytes: media, files, tools of the provider.
   */
  mostInputTokens?(request: RequestDocument): number | undefined
  /** Calibrates by the number of input tokens that a provider has counted, those of its cache included. */
  learn?(request: RequestDocument, model: string, counted: number): void
  /** Returns the counter of one caller, by its scope, which alone is calibrated by that caller's replies. */
  forCaller?(scope: string): TokenCounter
}
