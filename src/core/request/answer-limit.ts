import type { Usage } from '../reply/usage.ts'

/**
 * A limit of the caller's own, its cap for example, that may end a reply earlier than the request does. A reply that it has
 * cut is valid for this caller at this moment, and for no other caller and no later request.
 */
export interface AnswerLimit {
  /**
   * Output tokens at which a provider ends the reply as if it were complete; 0: any reply differs from the requested one.
   * `Infinity`: a stream is cut on its way, and then ends as `incomplete`.
   */
  readonly outputTokens: number
}

/** Returns whether the limit may have cut a complete reply of these counts. A reply without counts may be cut. */
export function isCutByLimit(limit: AnswerLimit | undefined, usage: Usage | undefined): boolean {
  if (limit === undefined || !Number.isFinite(limit.outputTokens)) return false
  return usage === undefined || usage.outputTokens >= limit.outputTokens
}
