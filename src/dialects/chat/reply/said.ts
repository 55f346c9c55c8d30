import { isObject, type JsonObject } from '../../../core/json/json-value.ts'
import { listOf, stringOf } from './narrow.ts'

/**
 * Returns the reasoning of a completion's message or of a chunk's delta. DeepSeek, vLLM and others name it
 * `reasoning_content`, OpenRouter, Groq and newer vLLM `reasoning`, some both; Mistral has it in parts of the content.
 */
export function reasoningOf(said: JsonObject): string {
  const { reasoning_content, reasoning, content } = said
  if (typeof reasoning_content === 'string' && reasoning_content !== '') return reasoning_content
  if (typeof reasoning === 'string' && reasoning !== '') return reasoning
  return Array.isArray(content) ? content.map(thoughtOf).join('') : ''
}

/** Returns the text of a completion's message or of a chunk's delta; of an array of parts, their texts joined. */
export function textOf({ content }: JsonObject): string {
  if (typeof content === 'string') return content
  return Array.isArray(content) ? joinTexts(content) : ''
}

function joinTexts(parts: unknown): string {
  return listOf(parts)
    .map((part) => (isObject(part) ? stringOf(part.text) : stringOf(part)))
    .join('')
}

/** Mistral, "reasoning": `{"type":"thinking","thinking":[{"type":"text","text":"…"}]}`. */
function thoughtOf(part: unknown): string {
  if (!isObject(part) || part.type !== 'thinking') return ''
  return typeof part.thinking === 'string' ? part.thinking : joinTexts(part.thinking)
}
