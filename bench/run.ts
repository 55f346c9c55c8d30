// `npm run bench`: compares the gateway with a bare relay and with its peer, and writes bench/RESULTS.md.
//
//   load.ts ──► gateway (ours | bare.ts | peer) ──► upstream.ts      each arrow loopback, each box a process
//      └─ reads /proc/<gateway>/stat                                 this process only directs them
//
// Guarantees: every gateway runs on the same Node, in a clean environment, on 127.0.0.1; an incomplete reply
// counts as a failure and is named; misses are verified to reach the upstream, hits not to.
// Limits: Linux only (/proc). Latencies on a busy machine are noise; CPU per request is the figure to trust.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildGateway } from '../test/support/build-gateway.ts'
import { createPostgres } from '../test/support/postgres.ts'
import { createRedis } from '../test/support/redis.ts'
import { CALM_CORES, waitForCalm } from './calm.ts'
import { type CampaignOptions, type Measurement, runCampaign } from './campaign.ts'
import { type Case, cases } from './cases.ts'
import { type Gateway, startGateway, startUpstream } from './gateway-process.ts'
import { startLoad } from './load-process.ts'
import { collectMemory } from './memory.ts'
import { type Options, parseOptions, usage } from './options.ts'
import { PART_CASES, partTargets } from './part-targets.ts'
import { installPeer } from './peer-install.ts'
import { renderParts, renderReport } from './report.ts'
import { type Memory, type Summary, summarise } from './summary.ts'
import { direct, type Place, type Target, targets } from './targets.ts'

/** Gateways that run at the same time, beside the bare relay. */
const GROUP_SIZE = 3

/** Parts that both campaigns share. */
interface Rig extends Omit<CampaignOptions, 'gateways' | 'cases' | 'firstRound'> {
  readonly notes: ReadonlySet<string>
  start(target: Target): Promise<Gateway[]>
}

async function run(
  { effort, targetNames, caseNames, outputFile, tables }: Options,
  signal: AbortSignal,
): Promise<void> {
  buildGateway()
  await using owned = new AsyncDisposableStack()
  const chosen = {
    targets: targets.filter((target) => targetNames.has(target.name) || isReference(target)),
    cases: cases.filter(({ name }) => caseNames.has(name)),
  }
  const rig = await openRig(owned, { effort, signal, targets: tables.has('gateways') ? chosen.targets : [] })
  const othersCores = await waitForCalm(signal)
  if (othersCores > CALM_CORES) rig.note(`Other programs used ${othersCores.toFixed(2)} cores before the run.`)
  const summary = tables.has('gateways') ? await measureGateways(rig, chosen) : undefined
  const parts = tables.has('parts') ? await measureParts(rig) : undefined
  const { notes } = rig
  const report = summary
    ? renderReport({ ...chosen, summary, parts, effort, notes: [...notes], date: new Date() })
    : [parts, ...notes].join('\n\n')
  console.log(`\n${report}`)
  if (summary === undefined) return
  writeFileSync(outputFile, report)
  console.log(`Written to ${outputFile}.`)
}

/** Starts what the gateways need, at once: what is not installed must not end a run in its middle. */
async function openRig(
  owned: AsyncDisposableStack,
  { effort, signal, targets }: Pick<CampaignOptions, 'effort' | 'signal'> & { targets: readonly Target[] },
): Promise<Rig> {
  if (targets.some(({ name }) => name.startsWith('peer'))) installPeer()
  const cloud = targets.some(({ usesCloud }) => usesCloud) ? await startDatabases(owned) : undefined
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-bench-'))
  owned.defer(() => rmSync(folder, { recursive: true, force: true }))
  const upstream = await startUpstream(folder)
  owned.defer(() => upstream.stop())
  const load = startLoad()
  owned.defer(() => load.stop())
  const notes = new Set<string>()
  const note = (text: string): void => {
    if (!notes.has(text)) console.log(`! ${text}`)
    notes.add(text)
  }
  const start = async (target: Target): Promise<Gateway[]> => {
    signal.throwIfAborted()
    try {
      const place = {
        upstreamOrigin: upstream.origin,
        folder: mkdtempSync(join(folder, `${target.name}-`)),
        ...(cloud && { cloud }),
      }
      const gateway = await startGateway(target, place)
      owned.defer(() => gateway.stop())
      return [gateway]
    } catch (error) {
      note(`${target.label} did not start: ${error instanceof Error ? error.message : error}`)
      return []
    }
  }
  return { effort, load, upstreamOrigin: upstream.origin, signal, note, notes, start }
}

/** Measures a few at a time, each time beside the bare relay: one that waits long for its turn cools down. */
async function measureGateways(rig: Rig, chosen: { targets: Target[]; cases: Case[] }): Promise<Summary> {
  const [bare, others] = [targets.filter(isReference), chosen.targets.filter((target) => !isReference(target))]
  const measurements: Measurement[] = []
  const memory = new Map<string, Memory>()
  for (let first = 0; first < Math.max(1, others.length); first += GROUP_SIZE) {
    const group = [...bare, ...others.slice(first, first + GROUP_SIZE)]
    console.log(`\n${group.map(({ label }) => label).join(' · ')}`)
    const gateways = await startAll(rig, [direct, ...group])
    const firstRound = (first / GROUP_SIZE) * rig.effort.rounds
    const campaign = { ...rig, gateways, cases: chosen.cases, firstRound }
    measurements.push(...(await runCampaign(campaign)))
    for (const [name, one] of await collectMemory(campaign)) memory.set(name, one)
  }
  return summarise(measurements, memory)
}

function isReference({ name }: Target): boolean {
  return name === 'bare'
}

/** Returns the table of what each part adds. */
async function measureParts(rig: Rig): Promise<string> {
  const chosen = { targets: partTargets(), cases: cases.filter(({ name }) => PART_CASES.has(name)) }
  const gateways = await startAll(rig, chosen.targets)
  const effort = { ...rig.effort, pacedRequests: 0 }
  const measurements = await runCampaign({ ...rig, effort, gateways, cases: chosen.cases, firstRound: 0 })
  for (const gateway of gateways) await gateway.stop()
  return renderParts({ ...chosen, summary: summarise(measurements) })
}

async function startAll({ start }: Rig, all: readonly Target[]): Promise<Gateway[]> {
  const gateways: Gateway[] = []
  for (const target of all) gateways.push(...(await start(target)))
  return gateways
}

/** Starts PostgreSQL and Redis, which end with `owned`. */
async function startDatabases(owned: AsyncDisposableStack): Promise<Required<Place>['cloud']> {
  const owner = { teardown: (end: () => unknown) => void owned.defer(async () => void (await end())) }
  const [postgres, redis] = [await createPostgres(owner), await createRedis(owner)]
  return { databaseUrl: await postgres.createDatabase(), redisUrl: redis.url }
}

async function main(): Promise<void> {
  const options = parseOptions(process.argv.slice(2))
  if (options.help) return console.log(usage)
  if (!existsSync('/proc/self/stat'))
    throw new Error('CPU times are read from /proc, which this system lacks: use Linux.')
  const stopping = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stopping.abort(new Error('Stopped.')))
  await run(options, stopping.signal)
}

try {
  await main()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
