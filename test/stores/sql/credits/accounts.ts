import type { Plans, Tier } from '../../../../src/core/money/plans.ts'
import type { Place } from '../places.ts'

/** Plans that are soon used up. */
export const PLANS: Plans = {
  free: { includedCalls: 3, creditsPerCall: undefined },
  pro: { includedCalls: 2, creditsPerCall: 10 },
  team: { includedCalls: 4, creditsPerCall: 7 },
}

/** An account as the gateway would make it. */
export interface NewAccount {
  readonly id: string
  readonly tier: Tier
  readonly periodStartMs?: number
  readonly periodEndMs?: number
}

/** Enters an account. */
export async function openAccount({ sql }: Pick<Place, 'sql'>, account: NewAccount): Promise<void> {
  const { id, tier, periodStartMs = 'null', periodEndMs = 'null' } = account
  await sql(
    `insert into account (id, tier, period_start_ms, period_end_ms, created_at_ms) values ('${id}', '${tier}', ${periodStartMs}, ${periodEndMs}, 0)`,
  )
}

/** The accounts that processes under load share. */
export const LOADED_ACCOUNTS = ['loaded-0', 'loaded-1', 'loaded-2']
