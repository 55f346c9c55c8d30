/**
 * DESIGN: errors of a request beyond the model's context window.
 *
 * Claude Code compacts the conversation after Anthropic's own words for such an error, or after the token
 * `capability_rejected: prompt_too_long` anywhere in the message (from 2.1.233 on). Other providers have words of their own,
 * so their errors get the token when they are converted to the Messages shape, and lose it in replies to other clients.
 * A token beside Anthropic's words would defeat them: the client compares `Input is too long.` with the whole message.
 */

/** Words of Anthropic's models, also at Bedrock and Vertex. */
const OF_CLAUDE = /(?:prompt|input) is too long|exceed context limit/i
/**
 * Words of other services: OpenAI, Gemini, Mistral, DeepSeek, vLLM, llama.cpp, Ollama, xAI, Moonshot, Z.ai, Qwen, MiniMax, TGI.
 * Sources: their errors as recorded in Claude Code 2.1.329 and in the services' own repositories.
 */
const OF_OTHERS =
  /context (?:length|window|limit)|maximum context|input token count|too many input tokens|(?:maximum model|model's context) length|available context size|model token limit|input token length too long|input tokens exceed|maximum prompt length|prompt exceeds max length|more than max tokens allowed|range of input length should be|model only supports up to|reduce the length of the messages|`inputs` tokens \+ `max_new_tokens`|context_length_exceeded/i
const TOKEN = 'capability_rejected: prompt_too_long'
const SUFFIX = ` (${TOKEN})`
/** Types of errors about the request itself; a limit of tokens a minute has similar words. */
const OF_REQUEST: ReadonlySet<string> = new Set(['invalid_request_error', 'request_too_large'])

/** Returns true for a message with words for an input beyond the model's window. */
export function isWindowExceeded(message: string): boolean {
  return OF_CLAUDE.test(message) || OF_OTHERS.test(message)
}

/** Builds a Messages error of another provider; one about the window has the token after which Claude Code compacts. */
export function providersError(type: string, message: string): { type: string; message: string } {
  const needsToken = OF_REQUEST.has(type) && !OF_CLAUDE.test(message) && OF_OTHERS.test(message)
  return { type, message: needsToken ? message + SUFFIX : message }
}

/** Returns a message without the token. */
export function withoutToken(message: string): string {
  return message.endsWith(SUFFIX) ? message.slice(0, -SUFFIX.length) : message
}
