/**
 * DESIGN: the fate of each tool.
 *
 *     fixed, named by the opening, forced by `tool_choice`, or among the nearest to the opening ──► keep
 *     the others:  slim ──► slim      defer ──► defer      drop ──► slim if its server is kept, else drop
 *
 * In `drop` a server is dropped when its tools score less than a twentieth of the best server's. Later messages can
 * only restore a server: by clearly concerning it, or by a call of one of its tools.
 *
 * Guarantees: a pure function of the list and the conversation; a continued conversation keeps every tool in its form.
 * So a slim tool remains slim when it is called: the call shows that this suffices, and one changed byte in the tools
 * would invalidate the provider's prompt cache.
 */
import type { Opening, Turn } from './conversation.ts'
import type { ToolList } from './tool-list.ts'
import type { Scores } from './toolbox.ts'

/** Treatment of the excluded tools. */
export type Mode = 'slim' | 'defer' | 'drop'

/** Fate of a tool. */
export type Fate = 'keep' | 'slim' | 'defer' | 'drop'

/** Weights of a namespace's best, second and third tool in its score. */
const RANK_SHARES = [1, 0.25, 0.1]
/** Least share of the best server's score; a server below it is unlikely. */
const LEAST_SHARE = 0.05

/** Inputs of the choice besides the list. */
export interface Situation {
  readonly opening: Opening
  /** Name in `tool_choice`. */
  readonly forcedTool: string | undefined
  /** Number of nearest tools that are kept whole. */
  readonly keep: number
}

/** Returns the tools to keep whole: fixed, named, forced or nearest. */
export function keptTools(list: ToolList, { opening, forcedTool, keep }: Situation): Set<number> {
  const kept = new Set([...list.mentioned(opening.system), ...list.mentioned(opening.text)])
  list.tools.forEach(({ isFixed, name }, i) => {
    if (isFixed || name.full === forcedTool) kept.add(i)
  })
  for (const i of nearest(list.score(opening.text)).slice(0, keep)) kept.add(i)
  return kept
}

/** Returns the fate of each tool where none is dropped. */
export function fatesOf(list: ToolList, kept: ReadonlySet<number>, rest: 'slim' | 'defer'): Fate[] {
  return list.tools.map(({ slim, isStrict }, i) => {
    if (kept.has(i)) return 'keep'
    return rest === 'slim' && (slim === undefined || isStrict) ? 'keep' : rest
  })
}

/** Returns the servers that the opening may concern: all unless it clearly concerns some tool. */
export function namespacesOfOpening(list: ToolList, kept: ReadonlySet<number>, text: string): Set<string> {
  const scores = list.score(text)
  if (!speaksOf(list, list.tools.keys(), { scores, rareWords: 1 })) return new Set(list.namespaces.keys())
  const rated = [...list.namespaces].map(([name, tools]) => ({ name, tools, score: scoreOf(tools, scores) }))
  const least = LEAST_SHARE * Math.max(...rated.map(({ score }) => score))
  const likely = rated.filter(({ tools, score }) => score >= least || tools.some((i) => kept.has(i)))
  return new Set(likely.map(({ name }) => name))
}

/** Tools and servers that later turns restore. */
export interface Return {
  /** Servers in the list, including those of the opening. */
  readonly present: ReadonlySet<string>
  /** Tools of other servers that were named or called. */
  readonly pinned: ReadonlySet<number>
  /** Names of both, in order. */
  readonly grown: readonly string[]
  /** Names that the previous call did not have: they invalidate the provider's cache. */
  readonly fresh: readonly string[]
}

/** Later turns, and permission to restore more than the tools that they call or name. */
interface Later {
  readonly turns: readonly Turn[]
  readonly growth: 'namespace' | 'never'
}

/** Applies the later turns in order: a restored tool remains. */
export function bringBack(list: ToolList, opening: ReadonlySet<string>, { turns, growth }: Later): Return {
  const present = new Set(opening)
  const pinned = new Set<number>()
  const grown: string[] = []
  let known = 0
  for (const { isReply, text, calledTools } of turns) {
    if (isReply) known = grown.length
    for (const i of [...list.mentioned(text), ...calledTools.map((name) => list.indexes.get(name) ?? -1)]) {
      if (!isAbsent(list, present, i) || pinned.has(i)) continue
      pinned.add(i)
      grown.push(list.tools[i]?.name.full ?? '')
    }
    for (const namespace of growth === 'never' ? [] : spokenOf(list, text)) {
      if (present.has(namespace)) continue
      present.add(namespace)
      grown.push(namespace)
    }
  }
  return { present, pinned, grown, fresh: grown.slice(known) }
}

/** Returns the fate of each tool where those of dropped servers are dropped. */
export function fatesWithDrops(list: ToolList, kept: ReadonlySet<number>, { present, pinned }: Return): Fate[] {
  const whole = new Set([...kept, ...pinned])
  return fatesOf(list, whole, 'slim').map((fate, i) => (!whole.has(i) && isAbsent(list, present, i) ? 'drop' : fate))
}

function isAbsent({ tools, namespaces }: ToolList, present: ReadonlySet<string>, i: number): boolean {
  const namespace = tools[i]?.name.namespace ?? ''
  return namespaces.has(namespace) && !present.has(namespace)
}

/** Returns the servers that a text clearly concerns. */
function spokenOf(list: ToolList, text: string): string[] {
  const scores = list.score(text)
  const spoken = [...list.namespaces].filter(([, tools]) => speaksOf(list, tools, { scores, rareWords: 2 }))
  return spoken.map(([name]) => name)
}

/** Tests for as much in common with one of these tools as a number of words that no other tool of the list has. */
function speaksOf(
  list: ToolList,
  tools: Iterable<number>,
  { scores, rareWords }: { scores: Scores; rareWords: number },
): boolean {
  const least = rareWords * Math.log(list.tools.length)
  for (const i of tools) if ((scores.absolute[i] ?? 0) >= least) return true
  return false
}

/** Returns all tools, the nearest first; none when the text scores none of them. */
function nearest({ relative }: Scores): number[] {
  if (relative.every((score) => score === 0)) return []
  return [...relative.keys()].sort((a, b) => (relative[b] ?? 0) - (relative[a] ?? 0) || a - b)
}

function scoreOf(tools: readonly number[], { relative }: Scores): number {
  const best = tools.map((i) => relative[i] ?? 0).sort((a, b) => b - a)
  return RANK_SHARES.reduce((sum, share, rank) => sum + share * (best[rank] ?? 0), 0)
}
