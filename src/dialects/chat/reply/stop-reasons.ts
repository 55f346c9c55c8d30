/** End of a chat completion. */
interface ChatEnding {
  readonly finishReason: unknown
  /** The stop string that ended the answer; vLLM reports it as the choice's `stop_reason`. */
  readonly stoppedBy: unknown
  readonly hasRefused: boolean
  readonly hasCalled: boolean
}

/** End of a message in the Messages shape. */
interface MessageEnding {
  readonly stop_reason: string
  readonly stop_sequence: string | null
}

/** Finish reasons of an answer that broke off: OpenRouter's and Mistral's, and DeepSeek's for a lack of resources. */
const BROKEN_OFF: ReadonlySet<unknown> = new Set(['error', 'insufficient_system_resource'])

const STOP_REASONS: ReadonlyMap<unknown, string> = new Map([
  ['length', 'max_tokens'],
  ['model_length', 'model_context_window_exceeded'], // Mistral's word for the end of the context window
  ['tool_calls', 'tool_use'],
  ['function_call', 'tool_use'],
  ['content_filter', 'refusal'],
])

const FINISH_REASONS: ReadonlyMap<unknown, string> = new Map([
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['refusal', 'content_filter'],
])

/** Returns true when the finish reason means an incomplete answer, which must not become `end_turn`. */
export function isBrokenOff(finishReason: unknown): boolean {
  return BROKEN_OFF.has(finishReason)
}

/**
 * Returns the stop reason. Many compatible servers, Gemini's streams among them, finish with `stop` after tool calls;
 * a client of the Messages shape would not run them then.
 */
export function messageEndingOf({ finishReason, stoppedBy, hasRefused, hasCalled }: ChatEnding): MessageEnding {
  if (hasRefused) return { stop_reason: 'refusal', stop_sequence: null }
  const reason = STOP_REASONS.get(finishReason)
  if (reason !== undefined) return { stop_reason: reason, stop_sequence: null }
  if (hasCalled) return { stop_reason: 'tool_use', stop_sequence: null }
  if (finishReason === 'stop' && typeof stoppedBy === 'string') {
    return { stop_reason: 'stop_sequence', stop_sequence: stoppedBy }
  }
  return { stop_reason: 'end_turn', stop_sequence: null }
}

/** Returns the finish reason of a completion; `stop` for every stop reason without an equivalent. */
export function finishReasonOf(stopReason: unknown): string {
  return FINISH_REASONS.get(stopReason) ?? 'stop'
}
