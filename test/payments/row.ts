import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { ExecutionContext } from 'ava'
import { type Gateway, type Start, startGateway } from '../support/gateway.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { query } from '../support/postgres.ts'
import { querySqlite } from '../support/sqlite.ts'
import { type Provider, startProvider } from '../support/stand-in-provider.ts'
import { machinePayments } from '../support/stripe/machine-payments.ts'
import { type StripeStandIn, startStripe } from '../support/stripe/stand-in.ts'
import { boothEnvironment } from './booth.ts'

/** Several gateways that share a database, with one provider and one Stripe behind them. */
export interface Row<Started extends Gateway = GatewayProcess> {
  readonly gateways: readonly Started[]
  readonly provider: Provider
  readonly stripe: StripeStandIn
  /** The environment of its gateways. */
  readonly env: Readonly<Record<string, string>>
  /** Sends one statement past the gateways. */
  sql(text: string): Promise<Record<string, unknown>[]>
  /** Starts another, its environment laid over that of all. */
  start(env?: Readonly<Record<string, string>>): Promise<Started>
}

/** How a row is set up. */
export interface RowOptions {
  readonly processes: number
  /** Of a PostgreSQL server. Default: SQLite. */
  readonly databaseUrl?: string | undefined
  readonly env?: Readonly<Record<string, string>>
}

/** The machine may be busy with as many processes of others. */
const PATIENCE_MS = 180_000
const KEY = 'sk-ant-operator-key'

/** Opens a row of processes; it is closed with the test. */
export function openRow(t: ExecutionContext, options: RowOptions): Promise<Row> {
  return openRowWith((env) => startGatewayProcess(env), t, options)
}

/** Opens a row of one gateway, in the thread of the test. */
export function openRowOfOne(t: ExecutionContext, options: Omit<RowOptions, 'processes'> = {}): Promise<Row<Gateway>> {
  return openRowWith(startGateway, t, { ...options, processes: 1 })
}

async function openRowWith<Started extends Gateway>(
  startOne: Start<Started>,
  t: ExecutionContext,
  { processes, databaseUrl, env: own }: RowOptions,
): Promise<Row<Started>> {
  t.timeout(PATIENCE_MS)
  const dataDir = mkdtempSync(path.join(tmpdir(), 'turnpike-row-'))
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }))
  const provider = await startProvider({ apiKey: KEY })
  t.teardown(provider.close)
  const stripe = await startStripe({ departments: [machinePayments] })
  t.teardown(stripe.close)
  const env = {
    ...boothEnvironment(stripe),
    ANTHROPIC_BASE_URL: provider.url,
    ANTHROPIC_API_KEY: KEY,
    SVC_DATA_DIR: dataDir,
    ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
    ...own,
  }
  const start = async (more: Readonly<Record<string, string>> = {}) => {
    const gateway = await startOne({ ...env, ...more })
    t.teardown(async () => void (await gateway.stop()))
    return gateway
  }
  // One after another: the first makes the tables and the keys.
  const gateways: Started[] = []
  for (let i = 0; i < processes; i++) gateways.push(await start())
  const sql = async (text: string) =>
    databaseUrl === undefined ? querySqlite(dataDir, text) : query(databaseUrl, text)
  return { gateways, provider, stripe, env, sql, start }
}
