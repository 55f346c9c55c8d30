/**
 * Measures the semantic cache on labelled data:
 *   npm run eval:semantic -- --data <folder> [--split dev|test|all] [--kinds]
 * `data.ts` says what the folder may hold. Prints a table for pairs and one for streams, each mode a row.
 */
import { existsSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { Mode } from '../../plugins/semantic-cache/matcher.ts'
import { readData, type Split } from './data.ts'
import { drawWithReplacement, measurePairs, measureStream, type PairCounts, shuffle } from './measure.ts'

const MODES: readonly (readonly [name: string, mode: Mode])[] = [
  ['strict', { kind: 'strict' }],
  ...[0.8, 0.9, 0.95].map((leastCosine) => [`threshold ${leastCosine}`, { kind: 'threshold', leastCosine }] as const),
]
const STREAM_LENGTH = 6000
const SEED = 20_261_122

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    split: { type: 'string', default: 'test' },
    kinds: { type: 'boolean', default: false },
  },
})
const split = toSplit(values.split)
if (values.data === undefined || !existsSync(values.data)) {
  throw new Error(`Expected --data to name a folder of labelled data, got ${values.data ?? 'nothing'}.`)
}
const { pairs, questions, intents } = readData(values.data, split)

for (const [name, list] of pairs) {
  console.log(`\n${name}, ${split}: ${list.length} pairs, lexical embedder`)
  for (const [mode, value] of MODES) {
    const counts = measurePairs(list, value)
    const kinds = values.kinds ? [...counts.keys()].sort() : ['all']
    for (const kind of kinds) printPairs(mode, kind, counts.get(kind))
  }
}
const streams = [
  ...[...questions].map(([name, list]) => [name, drawWithReplacement(list, STREAM_LENGTH, SEED)] as const),
  ...[...intents].map(([name, list]) => [name, shuffle(list, SEED)] as const),
]
for (const [name, list] of streams) {
  console.log(`\n${name}, ${split}: stream of ${list.length} requests, lexical embedder`)
  for (const [mode, value] of MODES) {
    const counts = await measureStream(list, value)
    const { requests, exact, possible, semantic, wrong, right } = counts
    console.log(
      `${mode.padEnd(15)} exact ${share(exact, requests)}  semantic ${share(semantic, requests)}  of possible ${share(right, possible)}  wrong/served ${share(wrong, semantic)} (${wrong} of ${semantic})`,
    )
  }
}

function printPairs(mode: string, kind: string, counts: PairCounts | undefined): void {
  if (counts === undefined) return
  const { same, sameAccepted, other, otherAccepted } = counts
  const precision = share(sameAccepted, sameAccepted + otherAccepted)
  console.log(
    `${mode.padEnd(15)} ${kind.padEnd(12)} recall ${share(sameAccepted, same)} (${sameAccepted}/${same})  wrong accepted ${share(otherAccepted, other)} (${otherAccepted}/${other})  precision ${precision}`,
  )
}

function share(part: number, whole: number): string {
  return whole === 0 ? '   –   ' : `${((100 * part) / whole).toFixed(2)} %`.padStart(8)
}

function toSplit(text: string): Split {
  if (text === 'dev' || text === 'test' || text === 'all') return text
  throw new Error(`Expected --split to be dev, test or all, got ${text}.`)
}
