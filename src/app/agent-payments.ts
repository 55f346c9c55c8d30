import { randomUUID } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import type Stripe from 'stripe'
import { Challenges } from '../commerce/agent-payments/challenges.ts'
import type { CoverageOptions } from '../commerce/agent-payments/coverage.ts'
import { DeliveredAnswers } from '../commerce/agent-payments/delivered.ts'
import type { Discovery } from '../commerce/agent-payments/discovery.ts'
import { LateCalls } from '../commerce/agent-payments/late-calls.ts'
import { Paywall } from '../commerce/agent-payments/paywall.ts'
import { createReadiness, type Readiness } from '../commerce/agent-payments/readiness.ts'
import { createReaper, type Reaper } from '../commerce/agent-payments/reaper.ts'
import { createReconciler } from '../commerce/agent-payments/reconciler.ts'
import { Sessions } from '../commerce/agent-payments/sessions.ts'
import { Settlement } from '../commerce/agent-payments/settlement.ts'
import { readinessOfAccount } from '../commerce/agent-payments/stripe/account.ts'
import { createStripeGateway, foundIn } from '../commerce/agent-payments/stripe/gateway.ts'
import { ConfigError } from '../config/config-error.ts'
import type { Config } from '../config/schema.ts'
import { toNanoUsd } from '../core/money/usd.ts'
import type { ByteStores } from '../core/ports/byte-store.ts'
import type { Clock } from '../core/ports/clock.ts'
import type { Log } from '../core/ports/log.ts'
import type { PaymentBooks } from '../core/ports/payment-books.ts'
import { ChallengeLimiter } from '../http/challenge-limiter.ts'
import { AGENT_PATH } from '../http/routes/agent.ts'
import type { SandboxWallet } from '../http/routes/agent-sandbox.ts'
import { RunningRequests } from '../http/running-requests.ts'
import { openLimiter } from '../stores/limits/open.ts'
import { createPaymentBooks } from '../stores/sql/payments/payment-books.ts'
import { createPaymentStore } from '../stores/sql/payments/payment-store.ts'
import { createSessionStore } from '../stores/sql/payments/session-store.ts'
import type { SqlStore } from '../stores/sql/store.ts'
import { stripeClientOf } from './billing.ts'
import { openSandbox, SANDBOX_NETWORK, SANDBOX_REALM } from './sandbox.ts'
import type { Spend } from './spend.ts'

/** Paid calls of agents (HTTP 402): challenges, settlement, prepaid sessions. */
export interface AgentPayments {
  readonly discovery: Discovery
  readonly coverage: CoverageOptions
  readonly prices: { readonly callCents: number; readonly sessionCallCents: number }
  readonly delivered: DeliveredAnswers
  readonly challengeLimiter: ChallengeLimiter
  readonly late: LateCalls
  /** In-flight calls of prepaid sessions without a stream. */
  readonly running: RunningRequests
  /** Paywall and prepaid sessions; `undefined` while payments are not configured. */
  readonly payable: { readonly paywall: Paywall; readonly sessions: Sessions } | undefined
  /** Books of these payments; those of the sandbox are apart. */
  readonly books: PaymentBooks
  /** Wallet of the sandbox; `undefined` where payments are real. */
  readonly wallet: SandboxWallet | undefined
  /** Reconciles a freshly fetched payment intent with the stored payment. */
  reconcile(intent: Stripe.PaymentIntent): Promise<void>
  close(): Promise<void>
}

/** Input of `openAgentPayments`. */
export interface AgentPaymentsOptions {
  readonly config: Config
  readonly database: SqlStore
  readonly spend: Spend
  readonly stores: ByteStores
  readonly clock: Clock
  readonly log: Log
  readonly databasePatienceMs?: number | undefined
}

const SANDBOX_WORDS = 'Sandbox: no money moves. POST /v1/agent/sandbox/tokens grants tokens.'
/** Specification, section 8. */
const PRICES = { callCents: 50, sessionCallCents: 5 }
const ANSWERS_BYTES = 64 * 1024 * 1024
/**
 * Most in-flight calls of a session without a stream, as many as the smallest session has: all may be late and
 * uncharged.
 */
const MOST_AT_ONCE = 10
const LEASE_MS = 15_000
const PATIENCE_MS = 60_000
const REAP_EVERY_MS = 15_000
const MINUTE_MS = 60_000
/** Submissions of one challenge; more than any client retries. */
const SUBMITS_PER_MINUTE = 200

/**
 * Opens payments of agents; returns `undefined` when they are off. Throws `ConfigError` when they are half configured.
 */
export async function openAgentPayments(options: AgentPaymentsOptions): Promise<AgentPayments | undefined> {
  const { config, spend, stores, clock, log: parent } = options
  const { mpp } = config
  const sandbox = await openSandbox(options)
  const ofHost = config.server.public_url && new URL(config.server.public_url).host
  const realm = mpp.realm ?? (sandbox === undefined ? ofHost : SANDBOX_REALM)
  if (!isEnabled(config, realm)) return undefined
  const secret = sandbox?.secret ?? mpp.secret
  if (secret === undefined) throw missing('mpp.secret', 'SVC_MPP_SECRET')
  if (realm === undefined) throw missing('mpp.realm', 'SVC_MPP_REALM')
  const database = sandbox?.database ?? options.database
  const log = parent.child({ part: sandbox === undefined ? 'payments' : 'sandbox-payments' })
  if (sandbox !== undefined) log.warn({ realm }, 'payment.sandbox')
  const store = createPaymentStore(database)
  const sessionStore = createSessionStore(database)
  const readiness = createReadiness({
    ask: () => readinessOf(config),
    monotonicMs: () => performance.now(),
  })
  const { prices, tokens } = spend
  const limits = await openLimits(options, log)
  const offered = {
    discovery: { realm, readiness, amountCents: PRICES.callCents, store },
    coverage: { prices, tokens, coversNanoUsd: toNanoUsd(mpp.covers) },
    prices: PRICES,
    delivered: new DeliveredAnswers(stores.open('agent-answers', { maxBytes: ANSWERS_BYTES }), log),
    challengeLimiter: new ChallengeLimiter(limits),
    late: new LateCalls(),
    running: new RunningRequests(MOST_AT_ONCE),
    books: createPaymentBooks(database),
    wallet: sandbox?.wallet,
  }
  const closeLimits = async () => {
    await Promise.all(Object.values(limits).map((limiter) => limiter?.close()))
    await sandbox?.database.close()
  }
  const stripe = stripeClientOf(config)
  const networkId = mpp.network_id ?? (sandbox && SANDBOX_NETWORK)
  const gateway = sandbox?.gateway ?? (stripe && createStripeGateway({ stripe, realm, log }))
  if (gateway === undefined || networkId === undefined) {
    log.warn({ missing: stripe === undefined ? 'billing.secret_key' : 'mpp.network_id' }, 'payment.not-configured')
    return { ...offered, payable: undefined, async reconcile() {}, close: closeLimits }
  }
  const parts = { store, gateway, leaseMs: LEASE_MS, randomId: randomUUID, log }
  const { apply, sweepDaily } = createReconciler({ store, gateway, clock, log })
  const reaper: Reaper = createReaper({ ...parts, sessions: sessionStore, sweepDaily, everyMs: REAP_EVERY_MS })
  const signing = { secrets: [secret, ...mpp.previous_secrets] as const, realm }
  const description = sandbox && SANDBOX_WORDS
  const challenges = new Challenges({ ...signing, networkId, description, store, monotonicMs: () => performance.now() })
  const settlement = new Settlement({ ...parts, mode: mpp.settlement, patienceMs: PATIENCE_MS })
  const sessionParts = { ...signing, route: AGENT_PATH, store: sessionStore, randomId: randomUUID, log }
  return {
    ...offered,
    async reconcile(intent) {
      const found = foundIn(intent, realm)
      if (found !== undefined) await apply(found)
    },
    payable: { paywall: new Paywall({ challenges, settlement }), sessions: new Sessions(sessionParts) },
    async close() {
      await reaper.close()
      await closeLimits()
    },
  }
}

/** Creates the limits on clients that have not paid. */
async function openLimits({ config }: AgentPaymentsOptions, log: Log) {
  const open = async (namespace: string, limit: number) =>
    limit === 0
      ? undefined
      : openLimiter({ limit, windowMs: MINUTE_MS }, { redisUrl: config.redis_url, namespace, log })
  const { per_address: perAddress, overall } = config.mpp.challenges_per_minute
  return {
    byAddress: await open('challenges', perAddress),
    overall: await open('challenges-overall', overall),
    submits: await open('submits', SUBMITS_PER_MINUTE),
  }
}

function isEnabled({ mode, mpp, billing }: Config, realm: string | undefined): boolean {
  if (mpp.enabled !== undefined) return mpp.enabled !== 'off'
  const isComplete = [mpp.secret, mpp.network_id, realm, billing.secret_key].every((part) => part !== undefined)
  return mode === 'cloud' && isComplete
}

async function readinessOf(config: Config): Promise<Readiness> {
  if (config.mpp.enabled === 'sandbox') return 'sandbox'
  const { secret_key: secretKey } = config.billing
  const stripe = stripeClientOf(config)
  if (stripe === undefined || secretKey === undefined || config.mpp.network_id === undefined) return 'not_configured'
  return readinessOfAccount(await stripe(), secretKey)
}

function missing(option: string, variable: string): ConfigError {
  return new ConfigError(`\`${option}\`: expected with \`mpp.enabled: on\`. Set it there or in ${variable}.`)
}
