import { readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '@redis/client'
import { countOpenFiles, residentBytes } from '../support/process-facts.ts'
import { type Databases, filesBelow } from './database.ts'
import type { Fixture, Node } from './fixture.ts'
import { mayGrow } from './growth.ts'
import { readFacts } from './inside.ts'
import { quantile, type Sample } from './statistics.ts'
import type { Tally } from './tally.ts'
import type { Latencies, Series, Unit } from './verdict.ts'

/** Subjects, interval and duration of the sampling. */
export interface SamplerOptions {
  readonly fixture: Fixture
  readonly databases: Databases
  readonly tally: Tally
  readonly everyMs: number
  readonly dayMs: number
  readonly signal: AbortSignal
}

/** Samples of a day; series without a value are left out. */
export interface Samples {
  readonly series: readonly Series[]
  readonly latencies: Latencies
}

/** A series as it grows. */
interface Seen {
  readonly unit: Unit
  readonly samples: Sample[]
}

/** Values of a moment: by name, with their unit. */
type Look = [name: string, unit: Unit, value: number][]

/** Looks at everything again and again until the day ends. */
export async function sampleDay(options: SamplerOptions): Promise<Samples> {
  const { fixture, tally, everyMs, dayMs, signal } = options
  const seen = new Map<string, Seen>()
  const latencies: number[][] = []
  const redis = fixture.redisUrl === undefined ? undefined : await createClient({ url: fixture.redisUrl }).connect()
  const beganMs = performance.now()
  while (!signal.aborted) {
    await sleep(everyMs, undefined, { signal }).catch(() => {})
    const took = tally.takeLatencies()
    latencies.push(took)
    const looks: Look = [
      ...processesOf(fixture),
      ['added latency, p50', 'ms', quantile(took, 0.5)],
      ...(await storesOf(options)),
    ]
    if (redis !== undefined) looks.push(['Redis, memory used', 'bytes', usedBy(await redis.info('memory'))])
    const at = (performance.now() - beganMs) / dayMs
    for (const [name, unit, value] of looks) {
      if (!seen.has(name)) seen.set(name, { unit, samples: [] })
      if (Number.isFinite(value)) seen.get(name)?.samples.push({ at, value })
    }
  }
  redis?.destroy()
  const series = [...seen].map(([name, each]) => ({ name, ...each, mayGrow: mayGrow(name, each.unit, tally.sent) }))
  return { series: series.filter(({ samples }) => samples.some(({ value }) => value !== 0)), latencies }
}

/** Samples everything that is not of one process. */
async function storesOf({ fixture, databases }: SamplerOptions): Promise<Look> {
  const [rows, bytes] = [await databases.rows(), await databases.bytes()]
  return [
    ...Object.entries(rows).map(([name, count]): Look[number] => [`rows of ${name}`, 'count', count]),
    ...Object.entries(bytes).map(([name, size]): Look[number] => [`bytes of ${name}`, 'bytes', size]),
    ['temporary files', 'count', filesBelow(fixture.temporaryFolder).length],
    ['upstream connections', 'count', fixture.provider.connections()],
  ]
}

function processesOf({ nodes }: Fixture): Look {
  return nodes.flatMap((node, index) => {
    const suffix = nodes.length === 1 ? '' : ` of process ${index + 1}`
    return processOf(node).map(([name, unit, value]): Look[number] => [`${name}${suffix}`, unit, value])
  })
}

function processOf({ gateway: { pid }, factsFile }: Node): Look {
  const facts = readFacts(factsFile)
  return [
    ['resident memory', 'bytes', residentBytes(pid)],
    ['heap after collection', 'bytes', facts?.heapBytes || Number.NaN],
    ['memory beside the heap', 'bytes', facts?.externalBytes || Number.NaN],
    ['open files', 'count', countOpenFiles(pid)],
    ['threads', 'count', readdirSync(`/proc/${pid}/task`).length],
    ['handles', 'count', facts?.handles ?? Number.NaN],
    ['event loop, p99 late', 'ms', facts?.lateMs ?? Number.NaN],
  ]
}

function usedBy(info: string): number {
  return Number(/^used_memory:(\d+)/m.exec(info)?.[1])
}
