import type { Usage } from '../reply/usage.ts'

/**
 * A limit of the caller's own, its cap for example, that may end an answer earlier than the request does. What it has cut is
 * the answer for this caller at this moment, and for no other caller and no later request.
 */
export interface AnswerLimit {
  /**
   * Output tokens at which a provider ends the answer as if it were whole; 0: any answer differs from what was asked for.
   * `Infinity`: a stream is cut on its way, and then ends as `incomplete`.
   */
  readonly outputTokens: number
}

/** Returns whether the limit may have cut a whole answer of these counts. One without counts may be as long as it may. */
export function isCutByLimit(limit: AnswerLimit | undefined, usage: Usage | undefined): boolean {
  if (limit === undefined || !Number.isFinite(limit.outputTokens)) return false
  return usage === undefined || usage.outputTokens >= limit.outputTokens
}
