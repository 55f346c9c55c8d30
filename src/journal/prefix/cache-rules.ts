import type { PrefixDigest } from './digest.ts'
import { type SentTurn, totalOf } from './turn.ts'

/**
 * DESIGN: rules of the providers' prompt caches, as far as they explain why a prefix was not read.
 *
 * Sources: "Prompt caching" of Anthropic's documentation (lifetimes from the last use, four marks, 20 blocks
 * of look-back), of OpenAI's (1,024 tokens in steps of 128; 5 to 10 minutes without use, 24 h on request; from GPT-5.6
 * on at least 30 minutes), and "Context caching" of Gemini's (implicit, without a promise).
 */
export const MOST_MARKS = 4
/** Blocks before a mark among which the provider looks for an earlier one. */
export const LOOK_BACK = 20

const MINUTE_MS = 60_000
const SHORT_MS = 5 * MINUTE_MS
const OPENAI_LONG_MS = 30 * MINUTE_MS
const STEP_TOKENS = 128
const USUAL_LEAST = 1024

const OPENAI = /(?:^|\/)(?:gpt-|chatgpt-|codex-|o\d)/
const OPENAI_EXPLICIT = /(?:^|\/)gpt-(?:5\.[6-9]|[6-9])/

/** Returns whether a provider caches nothing but what is marked. */
export function needsMarks({ api }: SentTurn): boolean {
  return api === 'messages'
}

/**
 * Returns how many tokens of a turn's prompt its provider has in its cache afterwards: what it reported as read and
 * written. Where it caches by itself and reports no writes, all of the prompt with OpenAI, and elsewhere what was read.
 */
export function cachedAfter(turn: SentTurn): number {
  const { tokens, target } = turn
  if (needsMarks(turn) || tokens.written > 0) return tokens.read + tokens.written
  if (!OPENAI.test(target.model)) return tokens.read
  const total = totalOf(tokens)
  return total < USUAL_LEAST ? 0 : total - (total % STEP_TOKENS)
}

/** Returns the shortest lifetime of a turn's entries in the cache, and whether the provider promises it. */
export function lifetimeOf({ api, sent, target }: SentTurn): { readonly ms: number; readonly isExact: boolean } {
  const marked = shortest(sent)
  if (api === 'messages') return { ms: marked ?? SHORT_MS, isExact: true }
  if (sent.lifetimeMs !== undefined) return { ms: sent.lifetimeMs, isExact: false }
  if (OPENAI_EXPLICIT.test(target.model)) return { ms: OPENAI_LONG_MS, isExact: false }
  return { ms: marked ?? SHORT_MS, isExact: false }
}

function shortest({ marks }: PrefixDigest): number | undefined {
  return marks.length === 0 ? undefined : Math.min(...marks.slice(0, MOST_MARKS).map(({ lifetimeMs }) => lifetimeMs))
}
