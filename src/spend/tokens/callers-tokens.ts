import { LRUCache } from 'lru-cache'
import type { TokenCounter } from '../../core/ports/token-counter.ts'
import type { DialectName } from '../../core/reply/reply-dialect.ts'
import type { RequestDocument } from '../../core/request/request.ts'
import { entryLimit } from '../../core/system/entry-limit.ts'
import { TokenEstimator } from './token-estimator.ts'

/** Callers whose factors are kept; the least recently used one is evicted. */
const MOST_CALLERS = 2000

/**
 * Estimates tokens with separate factors for each caller, so that one caller's unusual bodies affect no other estimate.
 * Learned factors are kept in memory only: after a restart, and in each process, factors start with the measured ones, for
 * which the margin of a hold allows.
 */
export class CallersTokens implements TokenCounter {
  /** Estimator for other callers; it does not learn. */
  readonly #measured = new TokenEstimator()
  readonly #callers = new LRUCache<string, TokenEstimator>(entryLimit(MOST_CALLERS))

  inputTokens(request: RequestDocument, model: string, dialect?: DialectName): number {
    return this.#measured.inputTokens(request, model, dialect)
  }

  mostInputTokens(request: RequestDocument): number | undefined {
    return this.#measured.mostInputTokens(request)
  }

  forCaller(scope: string): TokenCounter {
    const known = this.#callers.get(scope)
    if (known !== undefined) return known
    const estimator = new TokenEstimator()
    this.#callers.set(scope, estimator)
    return estimator
  }
}
