import { Fees } from '../accounts/plans/quota-charges.ts'
import { capsFrom } from '../config/caps.ts'
import { ConfigError } from '../config/config-error.ts'
import { openDataFolder } from '../config/data-folder.ts'
import { plansFrom } from '../config/plans.ts'
import type { Config } from '../config/schema.ts'
import type { Disposal } from '../core/disposal.ts'
import { GatewayError, messageWithCause } from '../core/errors.ts'
import type { CapsOf, Prices } from '../core/money/caps.ts'
import type { Clock } from '../core/ports/clock.ts'
import type { Log } from '../core/ports/log.ts'
import type { SpendLedger } from '../core/ports/spend-ledger.ts'
import type { TokenCounter } from '../core/ports/token-counter.ts'
import { hostOf } from '../core/system/host-of.ts'
import { createPriceBook } from '../spend/prices/book.ts'
import { loadPriceOverrides, PriceFileError } from '../spend/prices/overrides.ts'
import { CallersTokens } from '../spend/tokens/callers-tokens.ts'
import { createCallLedger } from '../stores/sql/ledger/call-ledger.ts'
import { createSpendLedger } from '../stores/sql/spend-ledger.ts'
import { SpendTills } from '../stores/sql/spend-tills.ts'
import { sqliteFile } from '../stores/sql/sqlite/location.ts'
import { openSqlStore, type SqlStore } from '../stores/sql/store.ts'

/** What is about money: where it is kept, what things cost, who may spend how much. */
export interface Accounting {
  readonly store: SqlStore
  readonly spend: SpendLedger
  readonly prices: Prices
  readonly tokens: TokenCounter
  readonly caps: CapsOf
  /** What plans take for requests; unset in local mode, where they are free. */
  readonly fees: Fees | undefined
}

/** What accounting is opened with. */
export interface AccountingOptions {
  readonly config: Config
  readonly log: Log
  readonly clock: Clock
  readonly disposal: Disposal
}

/** Opens the database, the price book and the ledger. Throws `ConfigError` for a price file that cannot be used. */
export async function openAccounting({ config, log, clock, disposal }: AccountingOptions): Promise<Accounting> {
  openDataFolder(config.data_dir)
  const prices = await openPrices(config)
  const store = await openStore(config, { log, clock })
  disposal.add('database', () => store.close())
  const ledger = createSpendLedger({ store, log })
  disposal.add('spend', () => ledger.close())
  const spend = new SpendTills({ ledger, roll: (roll) => store.run('spend.roll', roll), log })
  disposal.add('tills', () => spend.close())
  const tokens = new CallersTokens()
  const fees = config.mode === 'cloud' ? openFees(config, { store, log, disposal }) : undefined
  return {
    store,
    spend,
    prices,
    tokens,
    caps: capsFrom(config.costs),
    fees,
  }
}

/** Beside what a provider may take to begin its answer. */
const LEASE_ROOM_MS = 60_000

function openFees(
  config: Config,
  { store, log, disposal }: Pick<AccountingOptions, 'log' | 'disposal'> & { store: SqlStore },
): Fees {
  const ledger = createCallLedger({ store, log })
  disposal.add('calls', () => ledger.close())
  const { connect, first_byte: firstByte } = config.providers.timeouts
  const leaseMs = connect + firstByte + LEASE_ROOM_MS
  const fees = new Fees({ ledger, plans: plansFrom(config.plans), leaseMs, log })
  disposal.add('fees', () => fees.close())
  return fees
}

/** A database that cannot be opened is told in words: the start ends here. */
async function openStore(config: Config, { log, clock }: { log: Log; clock: Clock }): Promise<SqlStore> {
  try {
    return await openSqlStore({ databaseUrl: config.database_url, dataDir: config.data_dir, log, clock })
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    throw new ConfigError(`${placeOfStore(config)}: ${messageWithCause(error)}`, { cause: error })
  }
}

function placeOfStore({ database_url: url, data_dir: dataDir }: Config): string {
  return url === undefined ? `\`data_dir\` (${sqliteFile(dataDir)})` : `\`database_url\` (${hostOf(url)})`
}

async function openPrices({ prices: { file, ceiling } }: Config): Promise<Prices> {
  try {
    return withFreeDemo(createPriceBook({ overrides: loadPriceOverrides(file), ceiling }))
  } catch (error) {
    if (error instanceof PriceFileError) throw new ConfigError(error.message, { cause: error })
    throw error
  }
}

const NOTHING = { costNanoUsd: 0, source: 'catalogue', matched: 'demo' } as const
const NO_RATES = { inputNanoUsd: 0, cacheWrite5mNanoUsd: 0, cacheWrite1hNanoUsd: 0, outputNanoUsd: 0, callNanoUsd: 0 }

/** The demo provider asks nobody: what it says is free. */
function withFreeDemo(prices: Prices): Prices {
  return {
    price: (target, usage, atMs) => (target.provider === 'demo' ? NOTHING : prices.price(target, usage, atMs)),
    rates: (target, call, atMs) => (target.provider === 'demo' ? NO_RATES : prices.rates(target, call, atMs)),
  }
}
