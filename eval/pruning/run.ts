// `npm run eval:pruning -- --data <folder> [--split test] [--json <file>]`: measures the recall and savings of
// `prune-tools` with default options. Prints tables and writes them as JSON. No network, no model.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { loadCases } from './data.ts'
import { measureLatency } from './latency.ts'
import { measureRanking } from './ranking.ts'
import { renderTable } from './report.ts'
import { measureSessions } from './sessions.ts'
import { measureSingleTurns } from './single-turns.ts'

const USAGE = 'Usage: npm run eval:pruning -- --data <folder> [--split dev|test] [--json <file>]'

async function run(): Promise<void> {
  const { values } = parseArgs({
    options: { data: { type: 'string' }, split: { type: 'string' }, json: { type: 'string' } },
  })
  if (values.data === undefined) throw new Error(`Expected \`--data\`. ${USAGE}`)
  const cases = loadCases(values.data, values.split)
  const tables = {
    ranking: measureRanking(cases),
    'single turns, 100 tools': await measureSingleTurns(cases),
    'sessions, 100 tools': await measureSessions(cases),
    'latency, 100 tools': await measureLatency(cases),
  }
  for (const [title, rows] of Object.entries(tables)) console.log(`${renderTable(title, rows)}\n`)
  const file = path.resolve(values.json ?? 'eval/pruning/results.json')
  writeFileSync(file, `${JSON.stringify({ split: values.split ?? 'all', ...tables }, null, 2)}\n`)
  console.log(`wrote ${path.relative('.', file)}`)
}

await run().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
})
