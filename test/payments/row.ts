import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { ExecutionContext } from 'ava'
import { type Environment, type Gateway, startGateway } from '../support/gateway.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { query } from '../support/postgres.ts'
import { querySqlite } from '../support/sqlite.ts'
import { type Provider, startProvider } from '../support/stand-in-provider.ts'
import { machinePayments } from '../support/stripe/machine-payments.ts'
import { type StripeStandIn, startStripe } from '../support/stripe/stand-in.ts'
import { agentFixtureEnvironment } from './agent-fixture.ts'

/** Several gateways that share a database, with one provider and one Stripe behind them. */
export interface Row {
  readonly gateways: readonly Gateway[]
  readonly provider: Provider
  readonly stripe: StripeStandIn
  /** The environment of its gateways. */
  readonly env: Environment
  /** Sends one statement past the gateways. */
  sql(text: string): Promise<Record<string, unknown>[]>
  /** Starts another in the test's thread, its environment laid over that of all. */
  start(env?: Environment): Promise<Gateway>
  /** The same in a process, which a test can kill. */
  startProcess(env?: Environment): Promise<GatewayProcess>
}

/** Options of a row. */
export interface RowOptions {
  /** Started in the test's thread. Default: 1. */
  readonly gateways?: number
  /** Address of a PostgreSQL server. Default: SQLite. */
  readonly databaseUrl?: string | undefined
  readonly env?: Environment
}

/** The machine may be busy with as many processes of others. */
const PATIENCE_MS = 180_000
const KEY = 'sk-ant-operator-key'

/** Opens a row; it is closed with the test. */
export async function openRow(
  t: ExecutionContext,
  { gateways: count = 1, databaseUrl, env: own }: RowOptions = {},
): Promise<Row> {
  t.timeout(PATIENCE_MS)
  const dataDir = mkdtempSync(path.join(tmpdir(), 'turnpike-row-'))
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }))
  const provider = await startProvider({ apiKey: KEY })
  t.teardown(provider.close)
  const stripe = await startStripe({ departments: [machinePayments] })
  t.teardown(stripe.close)
  const env = {
    ...agentFixtureEnvironment(stripe),
    ANTHROPIC_BASE_URL: provider.url,
    ANTHROPIC_API_KEY: KEY,
    SVC_DATA_DIR: dataDir,
    ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
    ...own,
  }
  const ending = async <Started extends Gateway>(starting: Promise<Started>): Promise<Started> => {
    const gateway = await starting
    t.teardown(async () => void (await gateway.stop()))
    return gateway
  }
  const start = (more: Environment = {}) => ending(startGateway({ ...env, ...more }))
  const startProcess = (more: Environment = {}) => ending(startGatewayProcess({ ...env, ...more }))
  // One after another: the first makes the tables and the keys.
  const gateways: Gateway[] = []
  for (let i = 0; i < count; i++) gateways.push(await start())
  const sql = async (text: string) =>
    databaseUrl === undefined ? querySqlite(dataDir, text) : query(databaseUrl, text)
  return { gateways, provider, stripe, env, sql, start, startProcess }
}
