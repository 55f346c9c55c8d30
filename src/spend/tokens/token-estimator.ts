/**
 * DESIGN: estimate of a request's tokens, without its tokenizer and without a network.
 *
 * Purpose: caps and holds need the number before the provider is called, on every request, in a fraction of a
 * millisecond; and Claude's tokenizer is not public.
 *
 *     tokens = weight of the text × factor of the model's family + frames + hidden prompts + images + documents
 *
 * The weight is a memo of the body (`weights.ts`), computed once for all requests of the same bytes. The factor starts
 * with the measured one and learns from providers' counts: 1/20 of the way at each answer, within fixed bounds.
 * Guarantees: a whole number of 1 or more; more text never counts less. Limits: as exact as its weights, see there;
 * tools of MCP servers, and files and images by reference, are guessed.
 */
import { GatewayError } from '../../core/errors.ts'
import { ScanError } from '../../core/json/scan.ts'
import type { TokenCounter } from '../../core/ports/token-counter.ts'
import type { DialectName } from '../../core/reply/reply-dialect.ts'
import type { RequestDocument } from '../../core/request/request.ts'
import { FAMILIES, familyOf, type ModelFamily } from './families.ts'
import { partsOf, type RequestParts } from './request-parts.ts'
import { unitsOfJson, unitsOfText } from './text-units.ts'
import { UNITS_PER_TOKEN } from './weights.ts'

/** Memo keys of a body's parts, by its dialect. */
const PARTS = {
  messages: Symbol('token parts'),
  chat: Symbol('token parts of chat'),
  responses: Symbol('token parts of responses'),
}
const LEARNING_RATE = 0.05
const LEAST_FACTOR = 0.7
const MOST_FACTOR = 2.2
/** Below this number, frames and hidden prompts weigh too much to learn from. */
const LEAST_TEACHING_TOKENS = 1000

/** Answers of which each is a lesson. */
const FIRST_LESSONS = 64
const LESSON_EVERY = 16
/** Weighing a body of this size takes microseconds. */
const SMALL_BYTES = 4096
/** Fields that have no more tokens than bytes, but for hidden prompts. */
const TEXT_FIELDS = new Set([
  ...['model', 'max_tokens', 'messages', 'system', 'tools', 'tool_choice', 'stream', 'metadata', 'thinking'],
  ...['temperature', 'top_p', 'top_k', 'stop_sequences', 'service_tier', 'output_config', 'context_management'],
  ...['cache_control', 'max_completion_tokens', 'n', 'stop', 'stream_options', 'user', 'seed', 'presence_penalty'],
  ...['frequency_penalty', 'parallel_tool_calls', 'reasoning_effort', 'response_format', 'safety_identifier'],
  ...['prompt_cache_key', 'prompt_cache_options', 'store', 'verbosity'],
])
/** The most that those fields have together: tools, thinking, the format of the output. */
const MOST_HIDDEN_TOKENS = 1024

/** Estimates input tokens of requests in every dialect, and learns from providers' counts. */
export class TokenEstimator implements TokenCounter {
  readonly #factors = new Map(FAMILIES.map(({ name, startFactor }) => [name, startFactor]))
  /** Answers to large requests that were not weighed. */
  #unweighed = 0

  /** Returns the input tokens of a request for a model, calibrated; a whole number of 1 or more. Takes about 1 ms for 300 KB. */
  inputTokens(request: RequestDocument, model: string, dialect: DialectName = 'messages'): number {
    const family = familyOf(model)
    const parts = partsOrText(request, dialect)
    return wholeTokens(this.#textTokens(promptUnits(parts, family), family) + fixedTokens(parts, family))
  }

  /** Returns the most tokens that a request of text can have in any tokenizer: each has at least one byte of the body. */
  mostInputTokens({ bytes, shape }: RequestDocument): number | undefined {
    if (!shape.isText) return undefined
    for (const name of shape.fields.keys()) if (!TEXT_FIELDS.has(name)) return undefined
    return bytes.length + MOST_HIDDEN_TOKENS
  }

  /** Returns the tokens of a text for a model, calibrated; a whole number, 0 for an empty text. Bytes are read as UTF-8. */
  textTokens(text: string | Buffer, model: string): number {
    const bytes = typeof text === 'string' ? Buffer.from(text) : text
    return Math.ceil(this.#textTokens(unitsOfText(bytes), familyOf(model)))
  }

  /**
   * Learns from an answer: `request` as sent, and the provider's count of input tokens, those read from and
   * written to its cache included. Only text requests of 1,000 tokens or more are used. The factor is compared
   * with the one that would have been exact, not with the estimate: a hundred answers at once do not overshoot.
   * After the first answers, a large request that was not weighed before is weighed for a lesson only now and then.
   */
  learn(request: RequestDocument, model: string, counted: number): void {
    if (!Number.isSafeInteger(counted) || counted < LEAST_TEACHING_TOKENS) return
    if (!this.#isWorthALesson(request)) return
    const family = familyOf(model)
    const parts = partsOrText(request, 'messages')
    if (!parts.isPlain || this.inputTokens(request, model) < LEAST_TEACHING_TOKENS) return
    const right = ((counted - fixedTokens(parts, family)) / promptUnits(parts, family)) * UNITS_PER_TOKEN
    const factor = this.#factorOf(family)
    this.#factors.set(family.name, clamp(factor + LEARNING_RATE * (clamp(right) - factor)))
  }

  #isWorthALesson(request: RequestDocument): boolean {
    if (request.bytes.length <= SMALL_BYTES || request.hasMemo(PARTS.messages)) return true
    return this.#unweighed++ < FIRST_LESSONS || this.#unweighed % LESSON_EVERY === 0
  }

  /** Factors by family: tokens per token of o200k. */
  get learned(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#factors)
  }

  #textTokens(units: number, family: ModelFamily): number {
    return (units / UNITS_PER_TOKEN) * this.#factorOf(family)
  }

  #factorOf({ name, startFactor }: ModelFamily): number {
    return this.#factors.get(name) ?? startFactor
  }
}

/** Returns the parts; a body that is not JSON, or has wrong escapes, counts as text instead of throwing. */
function partsOrText(request: RequestDocument, dialect: DialectName): RequestParts {
  try {
    return request.memo(PARTS[dialect], () => partsOf(request, dialect))
  } catch (error) {
    if (!(error instanceof ScanError || error instanceof GatewayError)) throw error
    const units = unitsOfJson(request.bytes, 0, request.bytes.length)
    return { ...NO_PARTS, units, images: [] }
  }
}

const NO_PARTS = {
  earlierThinkingUnits: 0,
  deferredUnits: 0,
  frameTokens: 0,
  hiddenTokens: 0,
  documentTokens: 0,
  isPlain: false,
}

/** Returns the weight of the text that a family's models read. */
function promptUnits(parts: RequestParts, { dropsEarlierThinking, defersTools }: ModelFamily): number {
  const thinking = dropsEarlierThinking ? 0 : parts.earlierThinkingUnits
  return parts.units + thinking + (defersTools ? 0 : parts.deferredUnits)
}

/** Returns the tokens to which the factor does not apply. */
function fixedTokens(parts: RequestParts, { image, hasHiddenPrompts }: ModelFamily): number {
  const images = parts.images.reduce((sum, size) => sum + image(size), 0)
  return parts.frameTokens + (hasHiddenPrompts ? parts.hiddenTokens : 0) + parts.documentTokens + images
}

function wholeTokens(tokens: number): number {
  return Math.max(1, Math.ceil(tokens))
}

function clamp(factor: number): number {
  return Math.min(MOST_FACTOR, Math.max(LEAST_FACTOR, factor))
}
