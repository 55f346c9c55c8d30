/** Stop reason of a message, in the Messages shape. */
export type StopReason = 'end_turn' | 'tool_use' | 'max_tokens' | 'refusal'

/** Reasons for which the provider withholds an answer (Gemini API, "FinishReason" and "BlockReason"). */
const REFUSALS = new Set([
  ...['SAFETY', 'RECITATION', 'LANGUAGE', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII'],
  ...['IMAGE_SAFETY', 'IMAGE_PROHIBITED_CONTENT', 'IMAGE_RECITATION', 'MODEL_ARMOR', 'JAILBREAK'],
])

/**
 * Translates a `finishReason`. Gemini returns `STOP` for calls as well; a failed call and an unknown reason
 * end the turn.
 */
export function toStopReason(finishReason: string, hasCalls: boolean): StopReason {
  if (REFUSALS.has(finishReason)) return 'refusal'
  if (finishReason === 'MAX_TOKENS') return 'max_tokens'
  return hasCalls ? 'tool_use' : 'end_turn'
}
