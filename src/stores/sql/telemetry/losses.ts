import { sql } from 'kysely'
import { LOSS_REASONS } from '../../../core/telemetry/prefix-loss.ts'
import type { LossSums, Scopes, UsageRange } from '../../../core/telemetry/telemetry.ts'
import type { DimensionFilter } from '../../../core/telemetry/usage.ts'
import type { Command } from '../engine/command.ts'
import { sumOf } from '../engine/sum.ts'
import { allOf, codeOf, rowsThatFit, within } from './conditions.ts'
import { assertRange } from './read-usage.ts'

/** Returns the losses of the prompt cache of scopes in a range, by reason, the dearest first. Throws `invalid_request` for the range. */
export const readLosses: Command<UsageRange & DimensionFilter & { scopes: Scopes }, LossSums[]> = async (
  db,
  { scopes, fromMs, toMs, stepMs, offsets: _, ...filter },
) => {
  assertRange({ fromMs, toMs, stepMs })
  const nanoUsd = sumOf('lost_nano_usd')
  const rows = await db
    .selectFrom('usage_request')
    .select([
      sql<LossSums['reason']>`lost_reason`.as('reason'),
      sql<number>`count(*)`.as('requests'),
      sumOf('lost_tokens').as('tokens'),
      nanoUsd.as('nanoUsd'),
    ])
    .where('lost_reason', 'is not', null)
    .where(allOf([...within(scopes), ...rowsThatFit(filter, codeOf(db))]))
    .where('started_at_ms', '>=', fromMs)
    .where('started_at_ms', '<', toMs)
    .groupBy('lost_reason')
    .orderBy(nanoUsd, 'desc')
    .limit(LOSS_REASONS.length)
    .execute()
  return rows.map((row) => ({ ...row, requests: Number(row.requests) }))
}
