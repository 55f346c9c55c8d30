// `npm run eval:prompt-cache -- [--data <folder>] [--seeds 101-105] [--chained] [--json <file>]`: replays generated and recorded traffic
// against a provider's prompt cache, and prints what its input costs without marks, always marked, marked by the plugin
// `prompt-cache`, and at least. No network, no model.
import { existsSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { RATES } from '../billing.ts'
import { leastCost } from './hindsight.ts'
import { recordedTraffic } from './recorded.ts'
import { alwaysMarking, learning, type Model, replayCost, withoutMarks } from './replay.ts'
import { type Row, renderTable, sumOf } from './report.ts'
import { generateTraffic, REPLY_MS, type Traffic } from './traffic.ts'

/** Seeds of the table in the plugin's README; its constants were chosen with 1 to 5. */
const REPORTED = '101-105'
const DEFAULT_DATA = '../shared/data/compression'
const SONNET: Model = {
  prices: { fresh: RATES.fresh, read: RATES.read, write5m: RATES.write, write1h: 2 * RATES.fresh },
  leastTokens: 1024,
  replyMs: REPLY_MS,
}

function run(): void {
  const { values } = parseArgs({
    options: {
      data: { type: 'string' },
      seeds: { type: 'string', default: REPORTED },
      chained: { type: 'boolean', default: false },
      json: { type: 'string' },
    },
  })
  const model = { ...SONNET, isChained: values.chained }
  const seeds = seedsOf(values.seeds)
  const generated = seeds.flatMap((seed) => generateTraffic(seed))
  const folder = values.data ?? DEFAULT_DATA
  const isThere = existsSync(path.join(folder, 'trajectories.jsonl'))
  if (!isThere) console.log(`no recorded sessions in ${folder}: generated traffic only`)
  const recorded = isThere ? seeds.flatMap((seed) => recordedTraffic(folder, seed)) : []
  const rows = [...Map.groupBy([...recorded, ...generated], ({ name }) => name)].map(([name, all]) =>
    sumOf(
      name,
      all.map((traffic) => measure(traffic, model)),
    ),
  )
  console.log(renderTable([...rows, sumOf('all', rows)]))
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ seeds, rows }, null, 2)}\n`)
}

function seedsOf(range: string): number[] {
  const [, first, last] = /^(\d+)-(\d+)$/.exec(range) ?? []
  if (first === undefined) throw new Error(`Expected \`--seeds\` to be a range such as ${REPORTED}, got \`${range}\``)
  return Array.from({ length: Number(last) - Number(first) + 1 }, (_, index) => Number(first) + index)
}

function measure({ name, calls }: Traffic, model: Model): Row {
  return {
    name,
    calls: calls.length,
    none: replayCost(calls, withoutMarks(), model),
    always: replayCost(calls, alwaysMarking(), model),
    ours: replayCost(calls, learning(model), model),
    least: leastCost(calls, model.prices, model.replyMs),
  }
}

run()
