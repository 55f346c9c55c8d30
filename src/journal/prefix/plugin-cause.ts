import { type Change, firstChange } from './change.ts'
import type { PrefixDigest } from './digest.ts'
import type { SentTurn } from './turn.ts'

const ORDER: readonly Change['part'][] = ['tools', 'system', 'messages']
const MOST_NAMED = 3

/**
 * Returns the plugins that made a change of the sent prefix: the client's own prefix had none up to there. `undefined` when
 * the client made it, or when there is nothing to compare.
 */
export function pluginOf(before: SentTurn, turn: SentTurn, change: Change): string | undefined {
  const edits = [...turn.edits, ...before.edits]
  if (edits.length === 0 || before.unedited === undefined || turn.unedited === undefined) return undefined
  if (isChangedUpTo(before.unedited, turn.unedited, change)) return undefined
  const atFault = edits.filter(({ field }) => field === change.part)
  return namesOf(atFault.length > 0 ? atFault : edits)
}

/** Returns the plugins whose marks are at fault: the client itself sets none. */
export function pluginOfMarks(before: SentTurn, turn: SentTurn): string | undefined {
  const edits = [...before.edits, ...turn.edits]
  if (edits.length === 0 || before.unedited === undefined || turn.unedited === undefined) return undefined
  const isClients = before.unedited.marks.length + turn.unedited.marks.length > 0
  return isClients ? undefined : namesOf(edits)
}

function namesOf(edits: SentTurn['edits']): string {
  const modules = new Set(edits.map(({ module }) => module))
  return `plugin ${[...modules].slice(0, MOST_NAMED).join(', ')}`
}

/** Returns whether the client's own prefix changed at the same place or before it. */
function isChangedUpTo(before: PrefixDigest, after: PrefixDigest, change: Change): boolean {
  const own = firstChange(before, after, () => '')
  if (own === undefined) return false
  const [ownPart, part] = [ORDER.indexOf(own.part), ORDER.indexOf(change.part)]
  return ownPart < part || (ownPart === part && own.index <= change.index)
}
