import { hash } from 'node:crypto'
import path from 'node:path'
import { createSandboxGateway } from '../commerce/agent-payments/sandbox/gateway.ts'
import { grantSandboxToken, MOST_CENTS } from '../commerce/agent-payments/sandbox/wallet.ts'
import { ConfigError } from '../config/config-error.ts'
import { openDataFolder } from '../config/data-folder.ts'
import { listenHost } from '../config/reach.ts'
import type { Config } from '../config/schema.ts'
import { openSecretsKey } from '../config/secrets-key.ts'
import type { Clock } from '../core/ports/clock.ts'
import type { Log } from '../core/ports/log.ts'
import type { PaymentGateway } from '../core/ports/payments.ts'
import { isLoopback } from '../core/system/listen-address.ts'
import type { SandboxWallet } from '../http/routes/agent-sandbox.ts'
import { openSqlStore, type SqlStore } from '../stores/sql/store.ts'

/** Host name that payers see, and the seller's name, unless others are configured. */
export const SANDBOX_REALM = 'sandbox.localhost'
export const SANDBOX_NETWORK = 'profile_sandbox'
const FOLDER = 'sandbox'

/** Payments without money: a wallet, a payment provider, and a database of their own. */
export interface Sandbox {
  readonly gateway: PaymentGateway
  readonly wallet: SandboxWallet
  readonly database: SqlStore
  /** Signing secret of challenges. */
  readonly secret: string
}

/** Input of `openSandbox`. */
export interface SandboxOptions {
  readonly config: Config
  readonly clock: Clock
  readonly log: Log
  readonly databasePatienceMs?: number | undefined
}

/** Opens the sandbox; `undefined` unless `mpp.enabled` is `sandbox`. Throws `ConfigError` where money or other machines could meet it. */
export async function openSandbox(options: SandboxOptions): Promise<Sandbox | undefined> {
  const { config, clock } = options
  if (config.mpp.enabled !== 'sandbox') return undefined
  assertNoProduction(config)
  const secret = config.mpp.secret ?? hash('sha256', Buffer.concat([openSecretsKey(config), Buffer.from('mpp')]), 'hex')
  return {
    secret,
    gateway: createSandboxGateway({ secret, clock }),
    wallet: {
      mostCents: MOST_CENTS,
      grant: (wanted) => grantSandboxToken(secret, { ...wanted, nowMs: clock.nowMs() }),
    },
    database: await openSandboxDatabase(options),
  }
}

/** Opens the database of sandbox payments: a file of its own, so that they are in no book of real ones. */
export function openSandboxDatabase({
  config,
  clock,
  log,
  databasePatienceMs: patienceMs,
}: SandboxOptions): Promise<SqlStore> {
  const dataDir = path.join(config.data_dir, FOLDER)
  openDataFolder(dataDir)
  return openSqlStore({ databaseUrl: undefined, dataDir, log, clock, patienceMs })
}

function assertNoProduction(config: Config): void {
  const { billing, server } = config
  if (billing.secret_key !== undefined)
    throw refusal('beside a key of Stripe. Unset STRIPE_SECRET_KEY, or set SVC_MPP=on')
  const host = listenHost(config)
  if (!isLoopback(host)) throw refusal(`on ${host}, which other machines reach. Set HOST=127.0.0.1`)
  const publicHost = server.public_url && new URL(server.public_url).hostname
  if (publicHost !== undefined && publicHost !== 'localhost' && !isLoopback(publicHost))
    throw refusal(`under the public address \`server.public_url\` (${publicHost}). Unset SVC_PUBLIC_URL`)
}

function refusal(where: string): ConfigError {
  return new ConfigError(
    `\`mpp.enabled\`: \`sandbox\` does not run ${where}: its payments are no money, and nothing overrides this.`,
  )
}
