import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { messageOf } from '../../src/core/errors.ts'
import { createReceiptId, ID_RANDOM_BYTES } from '../../src/core/telemetry/receipt-id.ts'
import type { FinishedRequest } from '../../src/core/telemetry/telemetry.ts'
import { telemetryFile } from '../../src/stores/sql/sqlite/location.ts'
import { eventually } from './eventually.ts'

let made = 0

/** Returns a finished request with an id of its own that fits its moment; `parts` replace members. */
export function sampleRequest(parts: Partial<FinishedRequest> = {}): FinishedRequest {
  const startedAtMs = parts.startedAtMs ?? 1_795_305_600_000
  const randomness = new Uint8Array(ID_RANDOM_BYTES)
  new DataView(randomness.buffer).setUint32(0, ++made)
  return {
    id: createReceiptId(startedAtMs, randomness),
    requestId: `req_${made}`,
    hasReceipt: true,
    scope: 'mine',
    keyId: null,
    userId: null,
    teamId: null,
    tags: [],
    startedAtMs,
    route: 'messages',
    dialect: 'messages',
    isStream: false,
    status: 200,
    outcome: 'complete',
    reason: null,
    cache: 'none',
    pipeline: 'none',
    modelAsked: 'claude-sonnet-4-5',
    modelServed: 'claude-sonnet-4-5',
    provider: 'anthropic',
    conversation: {
      id: 'conv_0123456789abcdefghjkmnpqrs',
      source: 'prefix',
      client: null,
      parentId: null,
      rootId: 'conv_0123456789abcdefghjkmnpqrs',
      agent: null,
      turn: 1,
    },
    tokens: { input: 11, output: 3, cacheRead: 2, cacheWrite: 1, cacheWrite1h: 1, reasoning: 2 },
    costNanoUsd: 78_000,
    costs: {
      input: 33_000,
      cacheRead: 600,
      cacheWrite5m: 0,
      cacheWrite1h: 6000,
      output: 15_000,
      reasoning: 20_400,
      serverTools: 3000,
    },
    priceSource: 'catalogue',
    counterfactualNanoUsd: 100_000,
    counterfactualAtMostNanoUsd: null,
    counterfactualBasis: 'same',
    gatewayMs: 1.234,
    providerMs: 20.5,
    totalMs: 30.769,
    firstByteMs: 21.5,
    stopReason: 'tool_use',
    tools: ['Bash', 'Read'],
    serverToolCalls: 0,
    lost: null,
    trace: { steps: [], edits: [], calls: [] },
    ...parts,
  }
}

/** Waits for the row with this id or request id in the file of telemetry, read beside the gateway, and returns it. */
export async function rowOf(dataDir: string, id: unknown): Promise<Row> {
  const find = () => rowsOf(dataDir).find((row) => row.id === id || row.request_id === id)
  await eventually(() => find() !== undefined, `a row of ${id}`)
  return find() ?? {}
}

/** One row of the table of requests, or of a query. */
export type Row = Record<string, string | number | null>

/** Returns all rows in the file of telemetry, oldest first; none while there is no such table. */
export function rowsOf(dataDir: string, sql = 'select * from usage_request order by id'): Row[] {
  if (!existsSync(telemetryFile(dataDir))) return []
  const database = new DatabaseSync(telemetryFile(dataDir), { readOnly: true, timeout: 5000 })
  try {
    // Safe: no column is a blob, and none holds a number beyond JavaScript's safe integers.
    return database.prepare(sql).all() as Row[]
  } catch (error) {
    // The file is created before its tables.
    if (/no such table/.test(messageOf(error))) return []
    throw error
  } finally {
    database.close()
  }
}
