import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test, { type Implementation } from 'ava'
import { startCloudGateway, startCloudProcess } from './accounts.ts'
import { isDrill } from './drill.ts'
import type { Gateway } from './gateway.ts'
import type { JsonObject } from './json.ts'
import { createMigratedDatabase } from './migrated-database.ts'
import { isPostgresExpected, isUsed, query } from './postgres.ts'
import { querySqlite } from './sqlite.ts'

/** Gateways of one service that share one database. */
export interface Fleet {
  readonly gateways: readonly [Gateway, ...Gateway[]]
  /** Returns one of them, in turn. */
  next(): Gateway
  /** Environment of commands on the same database. */
  readonly env: Readonly<Record<string, string>>
  /** Sends one statement to the database, on a connection of its own; returns its rows. */
  sql(text: string): Promise<Record<string, unknown>[]>
}

/** An engine, and how many gateways use it. */
export interface FleetKind {
  readonly test: (title: string, run: Implementation<[]>) => void
  /** Opens one fleet for all tests of the file. */
  open(): Promise<Fleet>
}

const endings: (() => unknown)[] = []
test.after.always('stop the fleets', async () => {
  for (const end of endings.reverse()) await end()
})

/** Environment that points a gateway to its database. */
interface Place extends Readonly<Record<string, string>> {
  readonly SVC_DATA_DIR: string
}

/** Creates an empty database. */
async function databaseOf(engine: string, config: JsonObject): Promise<Place> {
  const folder = mkdtempSync(path.join(tmpdir(), 'turnpike-fleet-'))
  endings.push(() => rmSync(folder, { recursive: true, force: true }))
  const file = path.join(folder, 'turnpike.yaml')
  // Tests are refused on purpose, all from one address.
  writeFileSync(file, JSON.stringify({ limits: { failures_per_minute: 0 }, ...config }))
  const place = { SVC_DATA_DIR: folder, SVC_CONFIG: file }
  if (engine === 'sqlite') return place
  return { ...place, DATABASE_URL: await createMigratedDatabase() }
}

async function openFleet({ engine, size }: Kind, { env, config }: FleetOptions): Promise<Fleet> {
  const database = await databaseOf(engine, config)
  const { DATABASE_URL: url, SVC_DATA_DIR: folder } = database
  const start = isDrill && size > 1 ? startCloudProcess : startCloudGateway
  const gateways = await Promise.all(Array.from({ length: size }, () => start({ ...database, ...env })))
  endings.push(() => Promise.all(gateways.map((gateway) => gateway.stop())))
  let turn = 0
  return {
    gateways: gateways as unknown as Fleet['gateways'], // safe: a fleet has at least one
    next: () => gateways[turn++ % gateways.length] as Gateway, // safe: within
    env: database,
    sql: async (text) => (url === undefined ? querySqlite(folder, text) : query(url, text)),
  }
}

/** Gateways of the test's thread share as little as processes do; the drill uses processes nevertheless. */
const KINDS = isDrill
  ? (['sqlite', 'postgres'] as const).flatMap((engine) => [1, 3].map((size) => ({ engine, size })))
  : ([
      { engine: 'sqlite', size: 1 },
      { engine: 'postgres', size: 2 },
    ] as const)

type Kind = (typeof KINDS)[number]

interface FleetOptions {
  readonly env: Readonly<Record<string, string>>
  readonly config: JsonObject
}

/** Both engines, with one gateway and with several; a file's fleets share one PostgreSQL server. `config`: the configuration file. */
export function fleets(env: Readonly<Record<string, string>> = {}, config: JsonObject = {}): FleetKind[] {
  return KINDS.filter(({ engine }) => isUsed(engine)).map((kind) => {
    const { engine, size } = kind
    const name = `${engine}, ${size === 1 ? 'one gateway' : `${size} gateways`}`
    const run = engine === 'postgres' && !isPostgresExpected ? test.skip : test
    let fleet: Promise<Fleet> | undefined
    return {
      test: (title, implementation) => void run(`${name}: ${title}`, implementation),
      open: () => {
        fleet ??= openFleet(kind, { env, config })
        return fleet
      },
    }
  })
}
