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
import { runCampaign } from './campaign.ts'
import { cases } from './cases.ts'
import { type Gateway, startGateway, startUpstream } from './gateway-process.ts'
import { startLoad } from './load-process.ts'
import { collectMemory } from './memory.ts'
import { type Options, parseOptions, usage } from './options.ts'
import { installPeer } from './peer-install.ts'
import { renderReport } from './report.ts'
import { summarise } from './summary.ts'
import { direct, type Target, targets } from './targets.ts'

async function run({ effort, targetNames, caseNames, outputFile }: Options, signal: AbortSignal): Promise<void> {
  await using owned = new AsyncDisposableStack()
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
      if (target.name === 'peer') installPeer()
      const gateway = await startGateway(target, upstream.origin, mkdtempSync(join(folder, `${target.name}-`)))
      owned.defer(() => gateway.stop())
      return [gateway]
    } catch (error) {
      note(`${target.label} did not start: ${error instanceof Error ? error.message : error}`)
      return []
    }
  }

  const chosen = {
    targets: targets.filter(({ name }) => targetNames.has(name)),
    cases: cases.filter(({ name }) => caseNames.has(name)),
  }
  const gateways: Gateway[] = []
  for (const target of [direct, ...chosen.targets]) gateways.push(...(await start(target)))
  const campaign = { gateways, cases: chosen.cases, effort, load, upstreamOrigin: upstream.origin, signal, note }
  const measurements = await runCampaign(campaign)
  const memory = await collectMemory({ ...campaign, start })
  const summary = summarise(measurements, memory)
  const report = renderReport({ ...chosen, summary, effort, notes: [...notes], date: new Date() })
  writeFileSync(outputFile, report)
  console.log(`\n${report}\nWritten to ${outputFile}.`)
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
