import { messageOf } from '../../src/core/errors.ts'
import { createReceiptId, ID_RANDOM_BYTES } from '../../src/core/telemetry/receipt-id.ts'
import type { FinishedRequest } from '../../src/core/telemetry/telemetry.ts'
import { eventually } from './eventually.ts'
import { queryGateway, type Row } from './gateway-database.ts'

let made = 0
/** Beginning of the ids of copies, before eight digits: older than all others. */
const FIRST_COPY = `rcpt_${'0'.repeat(18)}`

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

/** Waits for the row with this id or request id in the table of requests, read beside the gateway, and returns it. */
export async function rowOf(dataDir: string, id: unknown): Promise<Row> {
  const find = async () => {
    const rows = await rowsOf(dataDir, `select * from usage_request where id = '${id}' or request_id = '${id}'`)
    return rows[0]
  }
  await eventually(async () => (await find()) !== undefined, `a row of ${id}`)
  return (await find()) ?? {}
}

/** Returns all requests that are stored, oldest first, or the rows of a query; none while there is no such table. */
export async function rowsOf(dataDir: string, sql = 'select * from usage_request order by id'): Promise<Row[]> {
  try {
    return await queryGateway(dataDir, sql, 'telemetry')
  } catch (error) {
    // The file is created after the start, and before its tables.
    if (/no such table|unable to open/.test(messageOf(error))) return []
    throw error
  }
}

/**
 * Stores copies of the request with this id, numbered from 1 on, with an id of their own each; `modelAsked`: what they
 * asked for, in SQL, with their number in `nth`.
 */
export async function copyRequest(
  dataDir: string,
  { id, times, modelAsked }: { id: unknown; times: number; modelAsked: string },
): Promise<void> {
  const columns = Object.keys(await rowOf(dataDir, id))
  const values = columns.map(
    (name) => ({ id: `'${FIRST_COPY}' || cast(10000000 + nth as text)`, model_asked: modelAsked })[name] ?? name,
  )
  await queryGateway(
    dataDir,
    `with recursive each (nth) as (select 1 union all select nth + 1 from each where nth < ${times})
    insert into usage_request (${columns.join(', ')})
    select ${values.join(', ')} from each, (select * from usage_request where id = '${id}') as copied`,
    'telemetry',
  )
}
