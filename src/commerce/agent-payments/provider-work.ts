import { GatewayError } from '../../core/errors.ts'
import { createStringSearch } from '../../core/json/string-search.ts'
import type { RequestDocument } from '../../core/request/request.ts'

/**
 * DESIGN — costs that `max_tokens` does not bound
 *
 * Tools that the provider runs cost fees, and more input: a tool's result is read as input, and the whole conversation
 * is read again each time the model continues. A prepaid price must cover all of it:
 *
 *   a round:  everything before it is read again ─▶ the model writes ─▶ tools are used ─▶ their results are input
 *
 * A search counts with its fee and an allowance of input. Unbounded work is refused: documents and
 * pages that are fetched, code that is run, other servers and other models that are called.
 */
export interface ProviderWork {
  /** Searches of the web, at a fee each. */
  readonly searches: number
  /** Maximum number of further model rounds, with all before as input. */
  readonly rounds: number
  /** Tokens of search results, per reading. */
  readonly foundTokens: number
}

/** Tokens of one search with its results. The provider's own example has 14,500 with the prompt (Claude API, "Web search tool"). */
const SEARCH_TOKENS = 20_000
/** The provider ends a turn after this many rounds (Claude API, "Stop reasons": `pause_turn`). */
const MOST_ROUNDS = 10

/** Depth of a document in a tool's result in a message. */
const DEEPEST = 8
const DOCUMENT = createStringSearch('document')

/** Client-side tools among the types that the provider defines. */
const RUN_BY_CLIENT = /^(?:custom$|bash_|text_editor_|computer_|memory_)/
const SEARCH = /^web_search_/
/** Tools that search the request's own tools, without a fee. */
const TOOL_SEARCH = /^tool_search_/

const UNBOUNDED_FIELDS = {
  mcp_servers: 'what other servers are asked',
  fallbacks: 'which other models are asked',
  plugins: 'what is run beside the model',
} as const

/** Returns the work that a request has the provider do beside answering. Throws `price_too_low` for work without a bound. */
export function providerWorkOf(request: RequestDocument): ProviderWork {
  for (const [field, what] of Object.entries(UNBOUNDED_FIELDS))
    if (hasItems(request.field(field))) throw unbounded(field, what)
  assertNoCompaction(request.field('context_management'))
  // Most requests have no document, and need no traversal.
  if (DOCUMENT.test(request.raw('messages')?.toString('latin1') ?? '')) assertEnclosed(request.messages, 'messages')
  const tools = request.field('tools')
  let [searches, rounds] = [0, 0]
  for (const [index, tool] of (Array.isArray(tools) ? tools : []).entries()) {
    const { type = 'custom', max_uses: uses } = tool as { type?: unknown; max_uses?: unknown } // safe: checked objects
    const name = String(type)
    if (RUN_BY_CLIENT.test(name)) continue
    if (TOOL_SEARCH.test(name)) rounds = MOST_ROUNDS
    else if (SEARCH.test(name)) searches += usesOf(uses, `tools.${index}.max_uses`)
    else throw unbounded(`tools.${index}`, `what \`${name}\` does`)
  }
  rounds = Math.max(rounds, Math.min(searches, MOST_ROUNDS))
  return { searches, rounds, foundTokens: SEARCH_TOKENS * readings(searches, Math.min(searches, MOST_ROUNDS)) }
}

/** Returns how often results are read in total when each round has one more, and those beyond the rounds come in the first. */
function readings(searches: number, rounds: number): number {
  return rounds * searches - (rounds * (rounds - 1)) / 2
}

function usesOf(uses: unknown, place: string): number {
  if (typeof uses === 'number' && Number.isInteger(uses) && uses >= 1) return uses
  throw new GatewayError('price_too_low', `${place}: expected the maximum number of searches. A paid call has a bound.`)
}

function assertNoCompaction(management: unknown): void {
  // Safe: only read, and anything may be there.
  const { edits } = (management ?? {}) as { edits?: unknown }
  const types = Array.isArray(edits) ? edits.map((edit) => String((edit as { type?: unknown } | null)?.type)) : []
  if (types.some((type) => type.startsWith('compact'))) throw unbounded('context_management', 'a compaction')
}

/** Refuses remote documents, which may have any number of pages. No provider accepts one below this depth. */
function assertEnclosed(value: unknown, place: string, depth = 0): void {
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return
  // Safe: an object's members may be anything.
  const { type, source } = value as { type?: unknown; source?: { type?: unknown } | null }
  const from = source?.type
  if (type === 'document' && (from === 'url' || from === 'file'))
    throw unbounded(place, 'a document that is not in the request')
  const isBlocks = Array.isArray(value)
  for (const [name, member] of Object.entries(value))
    if (isBlocks || name === 'content') assertEnclosed(member, `${place}.${name}`, depth + 1)
}

function hasItems(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null
}

function unbounded(place: string, what: string): GatewayError {
  const words = `${place}: a paid call has a price, and ${what} has no bound. Leave it out, or call with an API key.`
  return new GatewayError('price_too_low', words)
}
