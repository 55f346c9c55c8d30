// `npm run eval:redact -- [--count 200] [--seed 0] [--json <file>]`: measures the detectors of the plugin `redact` on generated values and
// look-alikes, `--count` of each in each of 12 kinds and two parts, and on the project's own sources and documentation, where
// every finding is counted as false unless it is listed. Prints tables; exits with 1 when a bar is missed.
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { measureCosts } from './costs.ts'
import { PARTS } from './items.ts'
import { type KindFigures, measurePart } from './measure.ts'
import { measureOrdinary } from './ordinary.ts'
import { measurePasses } from './pass.ts'

/** Least recall of formats with a structure, and of the rest. */
const LEAST_STRUCTURED = 0.99
const LEAST_OTHER = 0.9
const UNSTRUCTURED = new Set(['secret', 'phone', 'email', 'connection'])
const MOST_PER_TEN_THOUSAND_WORDS = 1

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '0' },
    count: { type: 'string', default: '200' },
    json: { type: 'string', default: 'eval/redact/results.json' },
  },
})
const parts = PARTS.map((part) => ({
  part: part.name,
  figures: measurePart(part, { count: Number(values.count), offset: Number(values.seed) }),
}))
for (const { part, figures } of parts) print(part, figures)
const ordinary = measureOrdinary()
const rate = (10_000 * ordinary.findings.length) / ordinary.words
console.log(
  `code and prose: ${ordinary.words} words, ${ordinary.findings.length} findings, ${rate.toFixed(3)} in 10,000`,
)
for (const finding of ordinary.findings) console.log(`  ${finding}`)
const costs = measureCosts([30_000, 300_000])
for (const { characters, scanMs, parseMs } of costs)
  console.log(`${characters} characters: scanned in ${scanMs.toFixed(2)} ms, parsed in ${parseMs.toFixed(2)} ms`)
const passes = measurePasses([30_000, 300_000])
for (const { characters, ...ms } of passes) {
  const [read, replaced, knownRead, knownReplaced] = [ms.readMs, ms.replaceMs, ms.knownReadMs, ms.knownReplaceMs]
  console.log(
    `${characters} characters of a conversation: read in ${read.toFixed(2)} ms of CPU time, replaced in ${replaced.toFixed(2)} ms;`,
    `in later turns ${knownRead.toFixed(2)} and ${knownReplaced.toFixed(2)} ms`,
  )
}
writeFileSync(values.json, `${JSON.stringify({ parts, ordinary, costs, passes }, undefined, 2)}\n`)
const isMet =
  rate <= MOST_PER_TEN_THOUSAND_WORDS &&
  parts.every(({ figures }) =>
    figures.every(
      ({ kind, found, values: all }) => found / all >= (UNSTRUCTURED.has(kind) ? LEAST_OTHER : LEAST_STRUCTURED),
    ),
  )
if (!isMet) {
  console.log(`MISSED: expected recall ${LEAST_STRUCTURED} and ${LEAST_OTHER}, and one false finding in 10,000 words`)
  process.exitCode = 1
}

function print(part: string, figures: readonly KindFigures[]): void {
  console.log(part.padEnd(14), 'values', ' found', 'recall', 'look-alikes', 'alarms')
  for (const { kind, values: all, found, lookAlikes, alarms, missed, falseAlarms } of figures) {
    const recall = `${((100 * found) / all).toFixed(1)} %`
    console.log(
      kind.padEnd(14),
      cell(all, 6),
      cell(found, 6),
      recall.padStart(7),
      cell(lookAlikes, 10),
      cell(alarms, 6),
    )
    for (const text of missed) console.log(`  missed: ${JSON.stringify(text)}`)
    for (const text of falseAlarms) console.log(`  false:  ${JSON.stringify(text)}`)
  }
}

function cell(value: number, width: number): string {
  return String(value).padStart(width)
}
