/**
 * Measures the semantic cache on labelled data:
 *   npm run eval:semantic -- --data <folder> [--split all|dev|test] [--kinds] [--embedder lexical] [--json <file>]
 *     [--mode strict|threshold=0.95 …]
 *   npm run eval:semantic -- --fuzz 1000000
 * Without `--data`: the pairs of this folder. `data.ts` documents the contents of a folder. Prints a row for each file and mode;
 * `--json` also writes the counts. `--fuzz` searches for hits across scopes and needs no data.
 */
import { existsSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { type EvalData, readData, type Split } from './data.ts'
import { embedderOf } from './embedders.ts'
import { fuzzScopes } from './fuzz.ts'
import { createScopeCache, drawWithReplacement, measurePairs, shuffle, simulate, type Trial } from './measure.ts'
import { modesOf, type NamedMode } from './modes.ts'
import { lineOf, type Row } from './report.ts'

const STREAM_LENGTH = 6000
const SEED = 20_261_122
const OWN_DATA = path.join(import.meta.dirname, 'pairs')

const { values } = parseArgs({
  options: {
    data: { type: 'string', default: OWN_DATA },
    split: { type: 'string', default: 'all' },
    kinds: { type: 'boolean', default: false },
    embedder: { type: 'string', default: 'lexical' },
    mode: { type: 'string', multiple: true, default: [] },
    json: { type: 'string' },
    fuzz: { type: 'string' },
  },
})
try {
  if (values.fuzz === undefined) await measure()
  else fuzz(toCount('fuzz', values.fuzz))
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}

async function measure(): Promise<void> {
  const split = toSplit(values.split)
  if (!existsSync(values.data))
    throw new Error(`Expected --data to name a folder of labelled data, got ${values.data}.`)
  const embedder = await embedderOf(values.embedder)
  const data = readData(values.data, split)
  const rows: Row[] = []
  for (const named of modesOf(values.mode)) {
    for await (const row of rowsOf(data, named, { embedder })) {
      rows.push(row)
      console.log(lineOf(row))
    }
  }
  if (values.json !== undefined)
    writeFileSync(values.json, `${JSON.stringify({ split, embedder: values.embedder, rows }, null, 2)}\n`)
}

async function* rowsOf(data: EvalData, { name, mode }: NamedMode, { embedder }: Pick<Trial, 'embedder'>) {
  for (const [file, pairs] of data.pairs) {
    const counts = await measurePairs(pairs, { mode, embedder })
    for (const [kind, row] of [...counts].sort())
      if (values.kinds || kind === 'all') yield { table: 'pairs', data: file, mode: name, kind, ...row } as const
  }
  const streams = [
    ...[...data.questions].map(([file, list]) => [file, drawWithReplacement(list, STREAM_LENGTH, SEED)] as const),
    ...[...data.intents].map(([file, list]) => [file, shuffle(list, SEED)] as const),
  ]
  for (const [file, requests] of streams) {
    const counts = await simulate(requests, createScopeCache({ mode, embedder }))
    yield { table: 'stream', data: file, mode: name, ...counts } as const
  }
}

function fuzz(steps: number): void {
  const counts = fuzzScopes(steps, SEED)
  console.log(`${steps} steps: ${counts.scopes} scopes, ${counts.hits} hits, ${counts.crossings} across scopes`)
  if (counts.crossings > 0) process.exitCode = 1
}

function toSplit(text: string): Split {
  if (text === 'dev' || text === 'test' || text === 'all') return text
  throw new Error(`Expected --split to be dev, test or all, got ${text}.`)
}

function toCount(option: string, text: string): number {
  const count = Number(text)
  if (Number.isSafeInteger(count) && count > 0) return count
  throw new Error(`Expected --${option} to be a whole number above 0, got ${text}.`)
}
