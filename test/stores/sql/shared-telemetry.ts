import type { ExecutionContext } from 'ava'
import { openTelemetryStore, type SqlTelemetry } from '../../../src/stores/sql/telemetry/telemetry.ts'
import type { Engine } from './places.ts'

/** Opens telemetry in the file's shared database; closed with the test. */
export async function openTelemetry(t: ExecutionContext, engine: Engine): Promise<SqlTelemetry> {
  const { place, store } = await engine.shared()
  const telemetry = openTelemetryStore({ ...place, accounts: store, clock: { nowMs: () => Date.now() } })
  t.teardown(() => telemetry.close(10_000))
  return telemetry
}
