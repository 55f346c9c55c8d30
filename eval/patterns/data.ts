import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'

/** Half of the data for tuning, half for reporting, or both. */
export type Split = 'dev' | 'test' | 'all'

/** Pattern with a paraphrased query for it. */
export interface LabelledPattern {
  readonly id: string
  readonly description: string
  readonly query: string
}

/** Data of the measurement. */
export interface EvalData {
  /** All patterns, regardless of the split: they compete with each other. */
  readonly patterns: readonly LabelledPattern[]
  /** Patterns of the split, whose queries are measured. */
  readonly queried: readonly LabelledPattern[]
  /** Texts that concern none of the patterns. */
  readonly unrelated: readonly string[]
  /** Conversations, as the user's messages. */
  readonly sessions: readonly (readonly string[])[]
}

const UNRELATED_PLACES = ['cases.jsonl', 'pruning/cases.jsonl', '../pruning/cases.jsonl']

/**
 * Reads `patterns.jsonl` in the folder, or in `patterns/` below it, and unrelated texts from `cases.jsonl` in the
 * folder, in `pruning/` below it or beside it. Throws when there are no patterns.
 */
export function readData(folder: string, split: Split): EvalData {
  const file = [path.join(folder, 'patterns.jsonl'), path.join(folder, 'patterns/patterns.jsonl')].find(existsSync)
  if (file === undefined) throw new Error(`\`${folder}\` has no patterns.jsonl: expected a folder of evaluation data`)
  const patterns = readLines<LabelledPattern>(file)
  const cases = UNRELATED_PLACES.map((place) => path.join(path.dirname(file), place)).find(existsSync)
  if (cases === undefined) console.log('no cases.jsonl: false fires and replay are not measured')
  const texts = cases === undefined ? [] : readLines<{ turns: { user: string }[] }>(cases)
  const conversations = texts
    .map(({ turns }) => turns.map(({ user }) => user))
    .filter(isIn(split, ([first = '']) => first))
  return {
    patterns,
    queried: patterns.filter(isIn(split, ({ id }) => id)),
    unrelated: conversations.flatMap((turns) => (turns.length === 1 ? turns : [])),
    sessions: conversations.filter((turns) => turns.length > 1),
  }
}

function readLines<Line>(file: string): Line[] {
  const lines = readFileSync(file, 'utf8').split('\n')
  // Safe: the data's own README documents its shape.
  return lines.filter((line) => line.trim() !== '').map((line) => JSON.parse(line) as Line)
}

/** Splits by hash: the same text is always on the same side. */
function isIn<Item>(split: Split, keyOf: (item: Item) => string): (item: Item) => boolean {
  const half = (item: Item) => ((createHash('sha1').update(keyOf(item)).digest()[0] ?? 0) % 2 === 0 ? 'dev' : 'test')
  return (item) => split === 'all' || half(item) === split
}
