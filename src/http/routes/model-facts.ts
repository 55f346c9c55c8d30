import { isObject } from '../../core/json/json-value.ts'
import type { Target } from '../../core/request/target.ts'
import type { CataloguedModel } from '../../providers/model-catalogue.ts'

/**
 * DESIGN: limits and prices of models, in the forms that clients read.
 *
 * Anthropic's members are `max_input_tokens` and `max_tokens`, OpenRouter's `context_length`, `max_completion_tokens`,
 * `top_provider` and `pricing` in decimal texts; agents read one or the other. What the provider's own entry has stays as it
 * is, whatever its names, and fills both forms. Prices are those of the gateway's books, which the caller is charged.
 */
export interface ModelFactSources {
  /** Returns the first target of a model; `undefined` for an invalid name. */
  readonly targetOf: (id: string) => Target | undefined
  /** Returns the context window of a model, in tokens; `undefined` where it is not known. */
  readonly contextWindowOf: (target: Target) => number | undefined
  /** Returns prices in USD per token, as decimal texts; `undefined` where they are not known. */
  readonly priceOf: (target: Target) => object | undefined
}

type Fields = Readonly<Record<string, unknown>>

/** Members of providers' own entries: Anthropic, OpenRouter and Together, Groq, vLLM, Mistral, Gemini. */
const WINDOW_MEMBERS = [
  ...['max_input_tokens', 'context_length', 'context_window', 'max_model_len', 'max_context_length', 'inputTokenLimit'],
]
const OUTPUT_MEMBERS = ['max_completion_tokens', 'max_output_tokens', 'max_tokens', 'outputTokenLimit']

/** Returns the context window that a provider's entry has, in tokens. */
export function windowIn(fields: Fields = {}): number | undefined {
  return tokensIn(fields, WINDOW_MEMBERS)
}

/** Returns members with a model's limits and prices; none that is not known. */
export function factsOf({ id, fields, limits = fields }: CataloguedModel, sources: ModelFactSources): Fields {
  const target = sources.targetOf(id)
  const window = windowIn(limits) ?? (target && sources.contextWindowOf(target))
  const output = outputIn(limits)
  const price = target && sources.priceOf(target)
  return {
    ...(window !== undefined && { context_length: window, max_input_tokens: window }),
    ...(output !== undefined && { max_completion_tokens: output, max_tokens: output }),
    ...((window ?? output) !== undefined && {
      top_provider: { context_length: window ?? null, max_completion_tokens: output ?? null, is_moderated: false },
    }),
    ...fields,
    ...(price !== undefined && { pricing: { ...recordOf(fields?.pricing), ...price } }),
  }
}

function outputIn(fields: Fields = {}): number | undefined {
  return tokensIn(fields, OUTPUT_MEMBERS) ?? tokensIn(recordOf(fields.top_provider), OUTPUT_MEMBERS)
}

function tokensIn(fields: Fields, names: readonly string[]): number | undefined {
  const tokens = names.map((name) => fields[name]).find((value) => Number.isSafeInteger(value) && Number(value) > 0)
  return tokens === undefined ? undefined : Number(tokens)
}

function recordOf(value: unknown): Fields {
  return isObject(value) ? value : {}
}
