import type { Api } from './read-prefix.ts'

/** Paths of the APIs whose prompts can be cached: Anthropic's and its hosts' (Vertex, Bedrock), OpenAI's, Gemini's. */
const PATHS: readonly (readonly [RegExp, Api])[] = [
  [/\/messages(?:\?|$)|:(?:stream)?rawPredict(?:\?|$)|\/invoke(?:-with-response-stream)?$/i, 'messages'],
  [/\/chat\/completions(?:\?|$)/, 'chat'],
  [/\/responses(?:\?|$)/, 'responses'],
  [/:(?:streamG|g)enerateContent(?:\?|$)/, 'gemini'],
]

/** Returns the API that a path of a provider belongs to; `undefined` for one without a prompt, or with no cache. */
export function apiOf(path: string): Api | undefined {
  return PATHS.find(([pattern]) => pattern.test(path))?.[1]
}
