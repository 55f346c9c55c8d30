import type { Accounting } from './accounting.ts'
import type { Config } from './config/schema.ts'
import type { Clock, Log } from './core/ports.ts'
import type { DashboardIntake } from './dashboard.ts'
import { finishedRequestOf } from './receipts/finished-request.ts'
import type { Receipts, ReceiptsOptions, ReplyRecorder } from './receipts/receipts.ts'
import { openTelemetry, type SqlTelemetry } from './stores/sql/telemetry/telemetry.ts'

/** Opens telemetry, unless it is switched off. */
export function startTelemetry(
  { config, clock, log }: { config: Config; clock: Clock; log: Log },
  { store }: Accounting,
): SqlTelemetry | undefined {
  const { data_dir: dataDir, database_url: databaseUrl, telemetry } = config
  return telemetry.enabled ? openTelemetry({ databaseUrl, dataDir, accounts: store, log, clock }) : undefined
}

/** Tells telemetry and the live feed what receipts say. */
export function recordIn(
  { telemetry, intake }: { telemetry: SqlTelemetry; intake: DashboardIntake },
  { receipts }: Config,
): ReceiptsOptions['onBuilt'] {
  const kept = { hasReceipt: receipts.enabled }
  return (receipt, facts) => {
    const request = finishedRequestOf(receipt, facts, kept)
    telemetry.record(request)
    intake.feed.publish(request)
  }
}

/** Who is told how replies ended: without receipts and telemetry, nobody. */
export function recorderFor(
  { receipts: { enabled }, telemetry }: Config,
  receipts: Receipts,
): ReplyRecorder | undefined {
  if (enabled) return receipts
  return telemetry.enabled ? receipts.unwritten : undefined
}
