/**
 * DESIGN: what becomes of each tool.
 *
 *     fixed, named by the opening, forced by `tool_choice`, or among the nearest to the opening ──► keep
 *     the others:  slim ──► slim      defer ──► defer      drop ──► slim if its server is kept, else drop
 *
 * In `drop` a server goes when its tools score less than a twentieth of the best server's. What is said later can only bring
 * a server back, when it clearly speaks of it, and so does a call of one of its tools.
 *
 * Guarantees: a pure function of the list and the conversation; a conversation that goes on keeps every tool that it had,
 * as it had it. So a tool that was slim stays slim when it is called: the model has shown that it can, and one changed
 * byte in the tools would have the provider read the whole conversation anew.
 */
import type { Opening, Turn } from './conversation.ts'
import type { ToolList } from './tool-list.ts'
import type { Scores } from './toolbox.ts'

/** What the excluded tools become. */
export type Mode = 'slim' | 'defer' | 'drop'

/** What becomes of a tool. */
export type Fate = 'keep' | 'slim' | 'defer' | 'drop'

/** How much of a namespace's score its best, second and third tool give. */
const RANK_SHARES = [1, 0.25, 0.1]
/** A server that scores less than this share of the best one is unlikely. */
const LEAST_SHARE = 0.05

/** What the choice depends on, besides the list. */
export interface Situation {
  readonly opening: Opening
  /** The name in `tool_choice`. */
  readonly forcedTool: string | undefined
  /** How many of the nearest tools are kept whole. */
  readonly keep: number
}

/** Which tools are kept whole: fixed, named, forced or nearest. */
export function keptTools(list: ToolList, { opening, forcedTool, keep }: Situation): Set<number> {
  const kept = new Set([...list.mentioned(opening.system), ...list.mentioned(opening.text)])
  list.tools.forEach(({ isFixed, name }, i) => {
    if (isFixed || name.full === forcedTool) kept.add(i)
  })
  for (const i of nearest(list.score(opening.text)).slice(0, keep)) kept.add(i)
  return kept
}

/** The fate of each tool where none is dropped. */
export function fatesOf(list: ToolList, kept: ReadonlySet<number>, rest: 'slim' | 'defer'): Fate[] {
  return list.tools.map(({ slim, isStrict }, i) => {
    if (kept.has(i)) return 'keep'
    return rest === 'slim' && (slim === undefined || isStrict) ? 'keep' : rest
  })
}

/** Servers that the opening is about, or may be: all of them unless it clearly speaks of some tool. */
export function namespacesOfOpening(list: ToolList, kept: ReadonlySet<number>, text: string): Set<string> {
  const scores = list.score(text)
  if (!speaksOf(list, list.tools.keys(), { scores, rareWords: 1 })) return new Set(list.namespaces.keys())
  const rated = [...list.namespaces].map(([name, tools]) => ({ name, tools, score: scoreOf(tools, scores) }))
  const least = LEAST_SHARE * Math.max(...rated.map(({ score }) => score))
  const likely = rated.filter(({ tools, score }) => score >= least || tools.some((i) => kept.has(i)))
  return new Set(likely.map(({ name }) => name))
}

/** What later turns bring back. */
export interface Return {
  /** Servers that are there, those of the opening among them. */
  readonly present: ReadonlySet<string>
  /** Tools of other servers that were named or called. */
  readonly pinned: ReadonlySet<number>
  /** Names of both, in order. */
  readonly grown: readonly string[]
  /** Those that the call before did not have: the provider's cache is lost now. */
  readonly fresh: readonly string[]
}

/** What is said later, and whether it may bring back more than the tools that it calls or names. */
interface Later {
  readonly turns: readonly Turn[]
  readonly growth: 'namespace' | 'never'
}

/** Goes through the later turns in order: what one of them brings back stays as it came. */
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

/** The fate of each tool where those of servers that are not there are dropped. */
export function fatesWithDrops(list: ToolList, kept: ReadonlySet<number>, { present, pinned }: Return): Fate[] {
  const whole = new Set([...kept, ...pinned])
  return fatesOf(list, whole, 'slim').map((fate, i) => (!whole.has(i) && isAbsent(list, present, i) ? 'drop' : fate))
}

function isAbsent({ tools, namespaces }: ToolList, present: ReadonlySet<string>, i: number): boolean {
  const namespace = tools[i]?.name.namespace ?? ''
  return namespaces.has(namespace) && !present.has(namespace)
}

/** Servers of which a text clearly speaks. */
function spokenOf(list: ToolList, text: string): string[] {
  const scores = list.score(text)
  const spoken = [...list.namespaces].filter(([, tools]) => speaksOf(list, tools, { scores, rareWords: 2 }))
  return spoken.map(([name]) => name)
}

/** Whether a text has as much in common with one of these tools as so many words that no other tool of the list has. */
function speaksOf(
  list: ToolList,
  tools: Iterable<number>,
  { scores, rareWords }: { scores: Scores; rareWords: number },
): boolean {
  const least = rareWords * Math.log(list.tools.length)
  for (const i of tools) if ((scores.absolute[i] ?? 0) >= least) return true
  return false
}

/** All tools, the nearest first; none when the text tells nothing about any of them. */
function nearest({ relative }: Scores): number[] {
  if (relative.every((score) => score === 0)) return []
  return [...relative.keys()].sort((a, b) => (relative[b] ?? 0) - (relative[a] ?? 0) || a - b)
}

function scoreOf(tools: readonly number[], { relative }: Scores): number {
  const best = tools.map((i) => relative[i] ?? 0).sort((a, b) => b - a)
  return RANK_SHARES.reduce((sum, share, rank) => sum + share * (best[rank] ?? 0), 0)
}
