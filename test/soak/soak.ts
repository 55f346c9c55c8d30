import { openSqlStore } from '../../src/stores/sql/store.ts'
import { createRecordingLog } from '../support/recording-log.ts'
import { endDay, openFiles } from './books.ts'
import type { Sessions } from './conversations.ts'
import { type Databases, openDatabases } from './database.ts'
import { type EngineName, type Fixture, openFixture } from './fixture.ts'
import { judgeMemory } from './memory.ts'
import { createChance } from './random.ts'
import { sampleDay } from './sampler.ts'
import { Tally } from './tally.ts'
import { runTraffic, userName } from './traffic.ts'
import { type Finding, judgeLatency, judgeSeries, judgeTraffic, type Series } from './verdict.ts'
import { PAID_ANSWERS, runVisitors } from './visitors.ts'

/*
 * DESIGN. A day of a team, squeezed into minutes.
 *
 *   users ─┐                                    ┌─▶ provider (strict; slow, refusing, breaking now and then)
 *          ├─▶ gateways, every plugin that keeps state, retention shortened in proportion
 *   visitors ┘        │                         └─▶ SQLite, or PostgreSQL and Redis
 *                  sampler ─▶ series ─▶ verdict: does the last half grow?
 *
 * The traffic is the same from begin to end, so that what grows in the last half has another cause than the traffic.
 */

/** Options of a soak. */
export interface SoakOptions {
  readonly engine: EngineName
  readonly dayMs: number
  readonly seed: number
  readonly sessions: Sessions
  /** Number of concurrent users. Default 24. */
  readonly users?: number
  /** Plants a leak, which must be found. Default: off. */
  readonly leaks?: boolean
  /** Judges resident memory after the day, which may take 45 s to fall. Default: on. */
  readonly judgesMemory?: boolean
}

/** Result of a soak. */
export interface SoakReport {
  readonly findings: readonly Finding[]
  readonly series: readonly Series[]
  readonly tally: Tally
  /** Number of visits by kind. */
  readonly visits: Readonly<Record<string, number>>
}

const USERS = 24
const THINKS_MS = 700
/** Samples of a day: every five seconds of twelve minutes. */
const SAMPLES = 144
/** Interval of a process's facts; no cache keeps anything for less. */
const SHORTEST_MS = 1000
/** Rows that are kept for a day and longer are kept for an eighth of it, so that the last half sees them deleted. */
const KEPT = 8
const SWEEPS = 32
const CREDITS = 100_000_000

/** Runs a day and judges it. Rejects when it cannot be run. */
export async function soak(options: SoakOptions): Promise<SoakReport> {
  const { engine, dayMs, seed, leaks = false } = options
  const [sweepMs, keepMs] = [Math.ceil(dayMs / SWEEPS), Math.max(SHORTEST_MS, Math.ceil(dayMs / KEPT))]
  const fixture = await openFixture({ engine, chance: createChance(seed), sweepMs, keepMs, leaks })
  try {
    return await runDay(fixture, options)
  } finally {
    await fixture.close()
  }
}

async function runDay(fixture: Fixture, options: SoakOptions): Promise<SoakReport> {
  const { dayMs, seed, sessions, users = USERS, judgesMemory = true } = options
  const databases = openDatabases(fixture)
  const tally = new Tally()
  await openAccounts(fixture, { databases, users })
  const filesBefore = openFiles(fixture)
  const signal = AbortSignal.timeout(dayMs)
  const traffic = { fixture, sessions: sessions.items, tally, users, thinksMs: THINKS_MS, seed, signal }
  const [{ series, latencies }, visits] = await Promise.all([
    sampleDay({ fixture, databases, tally, everyMs: Math.max(SHORTEST_MS, dayMs / SAMPLES), dayMs, signal }),
    runVisitors({ fixture, users, dayMs, seed, signal }),
    runTraffic(traffic),
  ])
  const findings = [
    ...series.map((each) => judgeSeries(each, seed)),
    judgeLatency(latencies, seed),
    judgeTraffic(latencies),
    ...(await endDay({ fixture, databases, tally, paidAnswers: visits[PAID_ANSWERS] ?? 0, filesBefore })),
    ...(judgesMemory ? await judgeMemory(fixture) : []),
  ]
  return { findings, series, tally, visits }
}

/** Opens accounts: every fourth user pays for calls. */
async function openAccounts(
  { databaseUrl, dataFolders: [dataDir] }: Fixture,
  { databases, users }: { databases: Databases; users: number },
): Promise<void> {
  const clock = { nowMs: () => Date.now() }
  const store = await openSqlStore({ databaseUrl, dataDir, log: createRecordingLog(), clock, patienceMs: 60_000 })
  for (let index = 0; index < users; index += 4) {
    const id = userName(index)
    await store.run('account.open', { id })
    await databases.sql(`update account set tier = 'pro' where id = '${id}'`)
    await store.run('ledger.append', { accountId: id, kind: 'grant', credits: CREDITS, idem: 'grant' })
  }
  await store.close()
}
