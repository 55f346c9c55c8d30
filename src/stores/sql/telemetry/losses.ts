import { type Kysely, sql } from 'kysely'
import { LOSS_REASONS } from '../../../core/telemetry/prefix-loss.ts'
import type { LossSums, Scopes, UsageRange } from '../../../core/telemetry/telemetry.ts'
import type { DimensionFilter } from '../../../core/telemetry/usage.ts'
import type { Command } from '../engine/command.ts'
import { sumOf } from '../engine/sum.ts'
import type { Database } from '../schema.ts'
import { allOf, codeOf, rowsThatFit, within } from './conditions.ts'
import { assertRange } from './read-usage.ts'

/** Rows with a loss are few and have an index; by the name of the column alone, SQLite would search all rows of the scopes. */
const SCOPE = sql`(scope || '')`

type LossRange = UsageRange & DimensionFilter & { readonly scopes: Scopes }

/** Returns the losses of the prompt cache of scopes in a range, by reason, the dearest first. Throws `invalid_request` for the range. */
export const readLosses: Command<LossRange, LossSums[]> = async (db, range) => {
  assertRange(range)
  const rows = await lossesIn(db, range).execute()
  return rows.map((row) => ({ ...row, requests: Number(row.requests) }))
}

/** Builds the query of the losses of a range. */
export function lossesIn(
  db: Kysely<Database>,
  { scopes, fromMs, toMs, stepMs: _step, offsets: _offsets, ...filter }: LossRange,
) {
  const nanoUsd = sumOf('lost_nano_usd')
  return db
    .selectFrom('usage_request')
    .select([
      sql<LossSums['reason']>`lost_reason`.as('reason'),
      sql<number>`count(*)`.as('requests'),
      sumOf('lost_tokens').as('tokens'),
      nanoUsd.as('nanoUsd'),
    ])
    .where('lost_reason', 'is not', null)
    .where(allOf([...within(scopes, SCOPE), ...rowsThatFit(filter, codeOf(db))]))
    .where('started_at_ms', '>=', fromMs)
    .where('started_at_ms', '<', toMs)
    .groupBy('lost_reason')
    .orderBy(nanoUsd, 'desc')
    .limit(LOSS_REASONS.length)
}
