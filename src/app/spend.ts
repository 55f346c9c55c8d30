import { QuotaCharges } from '../accounts/plans/quota-charges.ts'
import { ConfigError } from '../config/config-error.ts'
import { plansFrom } from '../config/plans.ts'
import type { Config } from '../config/schema.ts'
import type { CapsOf } from '../core/money/caps.ts'
import type { CostSplitter, Prices } from '../core/money/prices.ts'
import type { Log } from '../core/ports/log.ts'
import type { SpendLedger } from '../core/ports/spend-ledger.ts'
import type { TokenCounter } from '../core/ports/token-counter.ts'
import { createCapsOf } from '../spend/caps.ts'
import { createPriceBook } from '../spend/prices/book.ts'
import { withFreeDemo } from '../spend/prices/free-demo.ts'
import { loadPriceOverrides, PriceFileError } from '../spend/prices/overrides.ts'
import { CallersTokens } from '../spend/tokens/callers-tokens.ts'
import { createCallLedger } from '../stores/sql/credits/call-ledger.ts'
import type { SpendFlush } from '../stores/sql/spend/flush.ts'
import { createSpendLedger } from '../stores/sql/spend/ledger.ts'
import { ReservationPools } from '../stores/sql/spend/reservation-pools.ts'
import type { SqlStore } from '../stores/sql/store.ts'
import { type Opened, openParts } from './open-parts.ts'

/** Prices, token counts, caps and the ledgers that enforce them. */
export interface Spend {
  readonly ledger: SpendLedger
  readonly prices: Prices & CostSplitter
  readonly tokens: TokenCounter
  readonly capsOf: CapsOf
  /** Replaces the caps from the next request on. */
  setCaps(costs: Config['costs']): void
  /** Quota charges of plans; unset in local mode, where calls are free of charge. */
  readonly quotaCharges: QuotaCharges | undefined
}

/** Input of `openSpend`. */
export interface SpendOptions {
  readonly config: Config
  readonly database: SqlStore
  readonly log: Log
}

/** Opens the price book and the ledgers. Throws `ConfigError` for a price file that cannot be used. */
export function openSpend(options: SpendOptions): Promise<Opened<Spend>> {
  const { config, database: store, log } = options
  return openParts(options, (disposal) => {
    const prices = openPrices(config)
    const calls = config.mode === 'cloud' ? disposal.use('calls', createCallLedger({ store, log })) : undefined
    const quotaCharges =
      calls && new QuotaCharges({ ledger: calls, plans: plansFrom(config.plans), leaseMs: callLeaseMs(config), log })
    disposal.add('quota charges', () => quotaCharges?.close(closeWithinMs(config)))
    const chargeOf = quotaCharges?.find
    const ledger = createSpendLedger({ store, chargeOf, log })
    disposal.add('spend', () => ledger.close(closeWithinMs(config)))
    const flush = (flushed: SpendFlush) => store.run('spend.flush', flushed)
    const pools = disposal.use('reservation pools', new ReservationPools({ ledger, flush, chargeOf, log }))
    let capsOf = createCapsOf(config.costs)
    const setCaps = (costs: Config['costs']): void => {
      capsOf = createCapsOf(costs)
    }
    const tokens = new CallersTokens()
    return { ledger: pools, prices, tokens, capsOf: (request) => capsOf(request), setCaps, quotaCharges }
  })
}

/** Shortest time for waiting ends to be sent at shutdown, in milliseconds; parts have longer than that to close. */
const MIN_CLOSE_MS = 5000

function closeWithinMs({ server }: Config): number {
  return Math.max(server.drain_timeout, MIN_CLOSE_MS)
}

/** Time in addition to a provider's time-out for the start of its reply, in milliseconds. */
const LEASE_ROOM_MS = 60_000

function callLeaseMs({ providers: { timeouts } }: Config): number {
  return timeouts.connect + timeouts.first_byte + LEASE_ROOM_MS
}

function openPrices({ prices: { file, ceiling } }: Config): Prices & CostSplitter {
  try {
    return withFreeDemo(createPriceBook({ overrides: loadPriceOverrides(file), ceiling }))
  } catch (error) {
    if (error instanceof PriceFileError) throw new ConfigError(error.message, { cause: error })
    throw error
  }
}
