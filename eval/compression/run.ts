// `npm run eval:compression -- --data <folder> [--split test] [--json <file>]`: replays sessions call by call, with the
// price model of a prompt cache, and prints the effect of compression. No network, no model.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { loadEdgeCases, loadTrajectories, setOf, type Trajectory } from './data.ts'
import { failedEdgeCases } from './edge-cases.ts'
import { longSessions } from './long-sessions.ts'
import { NONE, type Policy, STAGE_A, STAGE_B } from './policies.ts'
import { type Replay, replay } from './replay.ts'
import { type Row, renderTable, summarise } from './report.ts'

const USAGE = 'Usage: npm run eval:compression -- --data <folder> [--split dev|test] [--json <file>]'

async function run(): Promise<void> {
  const { values } = parseArgs({
    options: { data: { type: 'string' }, split: { type: 'string' }, json: { type: 'string' } },
  })
  if (values.data === undefined) throw new Error(`Expected \`--data\`. ${USAGE}`)
  const trajectories = loadTrajectories(values.data, values.split)
  await warmUp(trajectories)
  const edgeCases = loadEdgeCases(values.data)
  const failed = await failedEdgeCases(edgeCases, STAGE_A)
  const rows = [...(await measure(trajectories, setOf, STAGE_A))]
  const long = longSessions(trajectories)
  for (const policy of [STAGE_A, STAGE_B]) rows.push(...(await measure(long, ({ id }) => id, policy)))
  console.log(renderTable(rows))
  console.log(
    `edge cases: ${edgeCases.length - failed.length} of ${edgeCases.length}${failed.map((id) => `; failed: ${id}`).join('')}`,
  )
  const file = path.resolve(values.json ?? 'eval/compression/results.json')
  writeFileSync(file, `${JSON.stringify({ split: values.split ?? 'all', rows, edgeCases: { failed } }, null, 2)}\n`)
  console.log(`wrote ${path.relative('.', file)}`)
}

/** Runs one pass for the compiler: the milliseconds are those of a warm process. */
async function warmUp(trajectories: readonly Trajectory[]): Promise<void> {
  for (const session of trajectories) await replay(session, STAGE_A.createSteps)
}

/** Measures a row for each group of sessions, and one for all. */
async function measure(
  sessions: readonly Trajectory[],
  groupOf: (session: Trajectory) => string,
  policy: Policy,
): Promise<Row[]> {
  const pairs: { group: string; before: Replay; after: Replay }[] = []
  for (const session of sessions) {
    const before = await replay(session, NONE.createSteps)
    const after = await replay(session, policy.createSteps)
    pairs.push({ group: groupOf(session), before, after })
  }
  const groups = Map.groupBy(pairs, ({ group }) => group)
  return [...groups, ['all', pairs] as const].map(([group, members]) => summarise(`${policy.name}: ${group}`, members))
}

await run().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
})
