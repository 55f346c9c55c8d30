import { hash } from 'node:crypto'
import { billedPicoUsd, RATES } from './billing.ts'

/**
 * DESIGN: model of a provider's prompt cache.
 *
 * A provider caches prefixes: a block is read cheaply when it and every block before it equal those of an earlier call.
 * A replay passes the blocks of each call in the order in which they are rendered: tools, system, messages.
 *
 *     call 1   A B C        written A B C
 *     call 2   A B C D      read A B C, written D
 *     call 3   A b C D E    read A, written b C D E: a break, for call 2 is no prefix of it
 *
 * Limits: no time passes between calls, so nothing expires; a prefix is found at any block, while a real provider looks
 * back some 20 blocks from a breakpoint, so that a break costs here what it costs at least.
 * Prices are those of the price book. Source of the least prefix: Anthropic's and OpenAI's documentation of prompt caching.
 */

const LEAST_PREFIX_TOKENS = 1024

/** Block of a prompt with its tokens. */
export interface PromptBlock {
  readonly text: string | Uint8Array
  readonly tokens: number
}

/** Cost of one call's input, in tokens. */
export interface PromptBill {
  readonly readTokens: number
  readonly writtenTokens: number
  /** Tokens of a prompt too short to be cached. */
  readonly uncachedTokens: number
  /**
   * In uncached input tokens, at the rates of the price book: a read costs 0.1 of one, a write for five minutes 1.25.
   */
  readonly cost: number
  /** Set when the blocks of the previous call are no prefix of this one's. */
  readonly isBreak: boolean
}

/** Prompt cache of one conversation, call by call. */
export class PromptCache {
  readonly #known = new Set<string>()
  #last = ''

  /** Charges the next call of the conversation. */
  call(blocks: readonly PromptBlock[]): PromptBill {
    const prefixes = prefixHashes(blocks)
    const isBreak = this.#last !== '' && !prefixes.includes(this.#last)
    const missAt = prefixes.findIndex((prefix) => !this.#known.has(prefix))
    const readTokens = tokensOf(missAt === -1 ? blocks : blocks.slice(0, missAt))
    const freshTokens = tokensOf(blocks) - readTokens
    const isCached = readTokens + freshTokens >= LEAST_PREFIX_TOKENS
    const writtenTokens = isCached ? freshTokens : 0
    const uncachedTokens = freshTokens - writtenTokens
    if (isCached) for (const prefix of prefixes) this.#known.add(prefix)
    this.#last = prefixes.at(-1) ?? ''
    const cost = billedPicoUsd({ readTokens, writtenTokens, uncachedTokens }) / RATES.fresh
    return { readTokens, writtenTokens, uncachedTokens, cost, isBreak }
  }
}

/** Returns, for each block, a hash of it and of all blocks before it. */
function prefixHashes(blocks: readonly PromptBlock[]): string[] {
  let prefix = ''
  return blocks.map(({ text }) => {
    prefix = hash('sha1', `${prefix} ${hash('sha1', text)}`)
    return prefix
  })
}

function tokensOf(blocks: readonly PromptBlock[]): number {
  return blocks.reduce((sum, { tokens }) => sum + tokens, 0)
}
