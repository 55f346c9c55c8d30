import type { Pair } from './pair.ts'
import { STRICT_VETOES, VETOES } from './rules.ts'

/** How much is refused: what makes another question for sure, or also whatever is said on one side only. */
export type Strictness = 'typed' | 'strict'

const ALL_VETOES = [...VETOES, ...STRICT_VETOES]

/** Part of every scope: entries that another version let in are judged by this one from the start. */
export const GUARD_VERSION = 'guard-4'

/** The code of the first rule that refuses the pair; `undefined` when none does. */
export function refusalOf(pair: Pair, strictness: Strictness): string | undefined {
  const rules = strictness === 'strict' ? ALL_VETOES : VETOES
  return rules.find(({ vetoes }) => vetoes(pair))?.code
}
