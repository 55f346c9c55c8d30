import type { Edit, RequestDocument } from 'turnpike/plugin'
import { bringBack, type Fate, fatesOf, fatesWithDrops, keptTools, type Mode, namespacesOfOpening } from './choice.ts'
import { readOpening, readTurns } from './conversation.ts'
import { estimateTokens } from './indexed-tool.ts'
import type { ToolList, ToolLists } from './tool-list.ts'

/** Provider's own search over deferred tools. */
const SEARCH_TOOL = { type: 'tool_search_tool_bm25_20251119', name: 'tool_search_tool_bm25' }

/** Options of the operator and the caller. */
export interface Terms {
  readonly mode: Mode
  readonly keep: number
  readonly growth: 'namespace' | 'never'
  readonly minTools: number
  readonly minTokens: number
}

/** Plan for the tools of one request. */
export interface Plan {
  readonly edits: readonly Edit[]
  readonly fates: readonly Fate[]
  readonly names: readonly string[]
  readonly tokensBefore: number
  readonly tokensAfter: number
  /** Servers and tools that later turns have restored, in order. */
  readonly grown: readonly string[]
  /** Those that the previous call did not have: they invalidate the provider's cache. */
  readonly fresh: readonly string[]
}

/** Returns the plan, or the reason for none. A pure function of the request and the options. */
export function planFor(request: RequestDocument, lists: ToolLists, terms: Terms): Plan | string {
  const raw = request.raw('tools')
  // Bytes decide, not a counter that learns: a moving threshold would change the tools during a conversation.
  if (raw === undefined) return 'no tools'
  const tokens = estimateTokens(raw.length)
  if (tokens < terms.minTokens) return `${tokens} tokens of tools: nothing to prune`
  const list = lists.read(raw)
  if (list === undefined) return 'too many tools, or too large ones'
  if (list.clientTools < terms.minTools) return `${list.clientTools} tools: nothing to prune`
  if (list.isOnDemand) return 'tools are loaded on demand already'
  const { fates, grown, fresh } = chooseFates(request, list, terms)
  return {
    edits: editsFor(list, fates),
    fates,
    names: list.tools.map(({ name }) => name.full),
    tokensBefore: list.tokens,
    tokensAfter: tokensAfter(list, fates),
    grown,
    fresh,
  }
}

function chooseFates(request: RequestDocument, list: ToolList, terms: Terms): Pick<Plan, 'fates' | 'grown' | 'fresh'> {
  const choice = request.field('tool_choice') as { type?: string; name?: string } | null | undefined
  // Where the model must call a tool, the right one must be in the list.
  const mode = choice?.type === 'any' ? 'slim' : terms.mode
  const opening = readOpening(request)
  const kept = keptTools(list, { opening, forcedTool: choice?.name, keep: terms.keep })
  if (mode !== 'drop') return { fates: fatesOf(list, kept, mode), grown: [], fresh: [] }
  const likely = namespacesOfOpening(list, kept, opening.text)
  const back = bringBack(list, likely, { turns: readTurns(request), growth: terms.growth })
  return { ...back, fates: fatesWithDrops(list, kept, back) }
}

function editsFor({ tools }: ToolList, fates: readonly Fate[]): Edit[] {
  const edits = fates.flatMap((fate, i) => editFor(fate, ['tools', i], tools[i]?.slim) ?? [])
  // In front, so that a cache mark on the client's last tool covers it.
  if (fates.includes('defer')) edits.push({ op: 'add', path: ['tools', 0], value: SEARCH_TOOL })
  return edits
}

function editFor(fate: Fate, path: readonly (string | number)[], slim: Buffer | undefined): Edit | undefined {
  switch (fate) {
    case 'keep':
      return undefined
    case 'slim':
      return { op: 'replace', path, value: slim }
    case 'defer':
      return { op: 'add', path: [...path, 'defer_loading'], value: true }
    case 'drop':
      return { op: 'remove', path }
  }
}

function tokensAfter({ tools }: ToolList, fates: readonly Fate[]): number {
  return tools.reduce((sum, { tokens, slimTokens }, i) => {
    if (fates[i] === 'keep') return sum + tokens
    return fates[i] === 'slim' ? sum + slimTokens : sum
  }, 0)
}
