import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test, { type Implementation } from 'ava'
import { startCloudGateway, startCloudProcess } from './accounts.ts'
import type { Gateway } from './gateway.ts'
import { createDatabase, isPostgresExpected } from './postgres.ts'

/** Gateways of one service that share one database; several are each a process of its own. */
export interface Fleet {
  readonly gateways: readonly [Gateway, ...Gateway[]]
  /** One of them, in turn. */
  next(): Gateway
}

/** An engine, and how many processes use it. */
export interface FleetKind {
  readonly name: string
  readonly test: (title: string, run: Implementation<[]>) => void
  /** One fleet for all tests of the file. */
  open(): Promise<Fleet>
}

const endings: (() => unknown)[] = []
test.after.always('stop the fleets', async () => {
  for (const end of endings.reverse()) await end()
})

/** The environment that leads a gateway to an empty database. */
async function databaseOf(engine: string): Promise<Record<string, string>> {
  const folder = mkdtempSync(path.join(tmpdir(), 'turnpike-fleet-'))
  endings.push(() => rmSync(folder, { recursive: true, force: true }))
  const config = path.join(folder, 'turnpike.yaml')
  // Tests are refused on purpose, all from one address.
  writeFileSync(config, 'limits: { failures_per_minute: 0 }')
  const place = { SVC_DATA_DIR: folder, SVC_CONFIG: config }
  if (engine === 'sqlite') return place
  return { ...place, DATABASE_URL: await createDatabase() }
}

async function openFleet(engine: string, size: number, env: Readonly<Record<string, string>>): Promise<Fleet> {
  const database = await databaseOf(engine)
  const start = size === 1 ? startCloudGateway : startCloudProcess
  const gateways = await Promise.all(Array.from({ length: size }, () => start({ ...database, ...env })))
  endings.push(() => Promise.all(gateways.map((gateway) => gateway.stop())))
  let turn = 0
  return {
    gateways: gateways as unknown as Fleet['gateways'], // safe: a fleet has one at least
    next: () => gateways[turn++ % gateways.length] as Gateway, // safe: within
  }
}

/** Both engines, each with one process and with three; a file's fleets share one PostgreSQL server. */
export function fleets(env: Readonly<Record<string, string>> = {}): FleetKind[] {
  return ['sqlite', 'postgres'].flatMap((engine) =>
    [1, 3].map((size) => {
      const name = `${engine}, ${size === 1 ? 'one process' : `${size} processes`}`
      const run = engine === 'postgres' && !isPostgresExpected ? test.skip : test
      let fleet: Promise<Fleet> | undefined
      return {
        name,
        test: (title, implementation) => void run(`${name}: ${title}`, implementation),
        open: () => {
          fleet ??= openFleet(engine, size, env)
          return fleet
        },
      }
    }),
  )
}
