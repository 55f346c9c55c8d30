import { createHash } from 'node:crypto'
import { scopeOfKey } from '../src/core/request/caller.ts'
import { createReceiptId, ID_RANDOM_BYTES } from '../src/core/telemetry/receipt-id.ts'
import type { FinishedRequest } from '../src/core/telemetry/telemetry.ts'
import { openPostgresStore } from '../src/stores/sql/postgres/store.ts'
import { telemetryFile } from '../src/stores/sql/sqlite/location.ts'
import { openSqliteStore } from '../src/stores/sql/sqlite/store.ts'
import { toRow } from '../src/stores/sql/telemetry/rows.ts'
import { createRecordingLog } from '../test/support/recording-log.ts'
import { sampleRequest } from '../test/support/telemetry.ts'

/** Operator of the filled gateway. */
export const OPERATOR = 'boss'

const PEOPLE = 30
const TEAMS = ['Compilers', 'Search', 'Billing', 'Support', 'Platform', 'Research']
const KEYS = 200
const TAGS = ['ci', 'prod', 'eval', 'docs']
const MODELS = [
  ['anthropic', 'claude-sonnet-4-5'],
  ['anthropic', 'claude-opus-4-8'],
  ['anthropic', 'claude-haiku-4-5'],
  ['openai', 'gpt-5-mini'],
  ['gemini', 'gemini-2.5-flash'],
] as const
const CLIENTS = ['claude-code', 'codex', 'opencode', null]
const PIPELINES = ['compress,cost-guard', 'exact-cache,compress,cost-guard', 'none']
const REASONS = [
  'cost_limit_per_day: the daily limit of the key is reached.',
  'permission_error: the key may not use this model.',
  'rate_limit_error: more than 60 requests per minute.',
]
const DAY_MS = 86_400_000
const DAYS = 29
const WORK_BEGIN = 0.35
const WORK_SHARE = 0.4
/** Conversations at a time. */
const LANES = 15
const TURNS = 20
const BATCH = 500

/** Ids of what was filled in. */
export interface Filled {
  readonly request: string
  readonly conversation: string
  readonly teamId: string
  readonly personId: string
  readonly leadId: string
  readonly keyId: string
}

/** A gateway to fill. */
export interface FillOptions {
  /** Sends a request of the operator to `/v1/admin/…`, and returns the reply's body. */
  readonly admin: (method: string, path: string, body?: object) => Promise<Record<string, string>>
  readonly databaseUrl: string | undefined
  /** Data folder, with its files where there is no server. */
  readonly folder: string
  readonly requests: number
}

interface Key {
  readonly id: string
  readonly personId: string
  readonly teamId: string
  readonly tags: readonly string[]
}

/** Creates people, teams, keys and tags over HTTP, and stores the rows of a month's requests. */
export async function fillGateway({ admin, databaseUrl, folder, requests }: FillOptions): Promise<Filled> {
  const keys = await createKeys(admin)
  const log = createRecordingLog()
  const store =
    databaseUrl === undefined
      ? await openSqliteStore({
          file: telemetryFile(folder),
          tables: 'telemetry',
          log,
          clock: { nowMs: Date.now },
          patienceMs: 60_000,
        })
      : await openPostgresStore({ url: databaseUrl, log, patienceMs: 60_000 })
  const endMs = Date.now() - 60_000
  let last: FinishedRequest | undefined
  for (let from = 0; from < requests; from += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, requests - from) }, (_, index) =>
      requestOf(from + index, { requests, endMs, keys }),
    )
    last = batch.at(-1)
    await store.run('telemetry.put', batch.map(toRow))
  }
  await store.close()
  const [{ id: keyId, personId, teamId } = { id: '', personId: '', teamId: '' }] = keys
  return {
    request: last?.id ?? '',
    conversation: last?.conversation?.id ?? '',
    keyId,
    personId,
    teamId,
    leadId: personId,
  }
}

async function createKeys(admin: FillOptions['admin']): Promise<Key[]> {
  const teams: string[] = []
  for (const name of TEAMS) teams.push((await admin('POST', 'teams', { name, limits: { costPerDay: 200 } })).id ?? '')
  for (const tag of TAGS) await admin('PUT', `tags/${tag}`, { limits: { costPerDay: 100 } })
  for (let person = 0; person < PEOPLE; person++) {
    const id = `person-${person}`
    await admin('POST', 'people', { id, name: `Person ${person}`, limits: { costPerMonth: 500 } })
    const role = person < TEAMS.length ? 'lead' : 'member'
    await admin('PUT', `teams/${teams[person % TEAMS.length]}/members/${id}`, { role })
  }
  const keys: Key[] = []
  for (let key = 0; key < KEYS; key++) {
    const person = key % PEOPLE
    const [personId, teamId] = [`person-${person}`, teams[person % TEAMS.length] ?? '']
    const tags = key % 3 === 0 ? [TAGS[key % TAGS.length] ?? 'ci'] : []
    const created = await admin('POST', 'keys', { personId, teamId, name: `key ${key}`, tags })
    keys.push({ id: created.id ?? '', personId, teamId, tags })
  }
  return keys
}

interface Month {
  readonly requests: number
  readonly endMs: number
  readonly keys: readonly Key[]
}

/**
 * Returns the request of this number: its turn in a conversation of twenty. One in five is of a machine at any hour, the others
 * are of people in ten hours of each day, so that about a dozen conversations run at a time.
 */
function requestOf(index: number, { requests, endMs, keys }: Month): FinishedRequest {
  const share = index / requests
  const day = Math.floor(share * DAYS)
  const ofDay = index % 5 === 0 ? share * DAYS - day : WORK_BEGIN + (share * DAYS - day) * WORK_SHARE
  const startedAtMs = Math.round(endMs - (DAYS - day - ofDay) * DAY_MS)
  const [lane, step] = [index % LANES, Math.floor(index / LANES)]
  const number = Math.floor(step / TURNS) * LANES + lane
  const key = keys[(number * 7) % keys.length] as Key // safe: within the list
  const [provider, model] = MODELS[number % MODELS.length] as (typeof MODELS)[number] // safe: within the list
  const isRefused = index % 47 === 7
  const cost = isRefused ? 0 : 2_000_000 + (index % 97) * 300_000
  const id = `conv_${createHash('sha256').update(String(number)).digest('hex').slice(0, 23)}`
  const randomness = new Uint8Array(ID_RANDOM_BYTES)
  new DataView(randomness.buffer).setUint32(0, index)
  return sampleRequest({
    id: createReceiptId(startedAtMs, randomness),
    startedAtMs,
    scope: scopeOfKey(key.id),
    keyId: key.id,
    userId: key.personId,
    teamId: key.teamId,
    tags: key.tags,
    status: isRefused ? 403 : 200,
    outcome: isRefused ? 'refused' : 'complete',
    reason: isRefused ? (REASONS[index % REASONS.length] ?? null) : null,
    isStream: index % 2 === 0,
    pipeline: PIPELINES[number % PIPELINES.length] ?? 'none',
    modelAsked: model,
    modelServed: isRefused ? null : model,
    provider: isRefused ? null : provider,
    costNanoUsd: cost,
    counterfactualNanoUsd: cost + (index % 5) * 100_000,
    lost: index % 40 === 3 ? { reason: 'expired', detail: 'after 7 min', tokens: 900, nanoUsd: 90_000 } : null,
    conversation: {
      id,
      rootId: id,
      parentId: null,
      agent: null,
      client: CLIENTS[number % CLIENTS.length] ?? null,
      source: 'client',
      turn: (step % TURNS) + 1,
    },
    // The page of a request would wait for a receipt that is not written.
    hasReceipt: false,
    trace: TRACE,
  })
}

/** Trace of a usual length, about 2 KB. */
const TRACE: FinishedRequest['trace'] = {
  steps: ['exact-cache', 'compress', 'prune-tools', 'cost-guard'].map((module) => ({
    module,
    action: 'changed',
    ms: 0.4,
    details: { note: 'Details of a usual length that a plugin notes of its step. '.repeat(5) },
  })),
  edits: [{ module: 'compress', paths: ['messages'], bytesBefore: 81_400, bytesAfter: 52_300 }],
  calls: [],
}
