import { hash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { DialectName } from '../../src/core/reply/reply-dialect.ts'
import { eventually } from '../support/eventually.ts'
import { type Gateway, type Start, startGateway } from '../support/gateway.ts'
import { ask, type Reply } from '../support/http-client.ts'
import { isJsonObject, type JsonObject, parseJson, valueAt } from '../support/json.ts'
import { guardedBy, PIPELINE } from '../support/pipelines.ts'
import {
  openProviderFixtureWith,
  type ProviderFixture,
  type ProviderFixtureOptions,
  type ProviderScenario,
} from '../support/provider-fixture.ts'

/** Nano-USD a token of `claude-sonnet-4-5` and of `gpt-4o`. */
export const SONNET = { input: 3000, output: 15_000 }
export const GPT_4O = { input: 2500, output: 10_000 }
const NANO = 1e9

/** A caller's rows in the ledger, in nano-USD: the sums of its first window, and the settled holds. */
export interface Books {
  settledNanoUsd: number
  heldNanoUsd: number
  /** Cost and last held amount of each settled hold; in no order. */
  holds: { costNanoUsd: number; amountNanoUsd: number }[]
}

/** Body, caller and guard of a request. */
export interface Asking {
  /** The caller's key: each has windows of its own. */
  as: string
  /** Options of the guard, as in a pipeline string. */
  guard?: string
  /** The whole pipeline, instead. */
  pipe?: string
  stream?: boolean
  /** Further members of the body. */
  extra?: JsonObject
  dialect?: DialectName
  prompt?: string
  headers?: Readonly<Record<string, string>>
  signal?: AbortSignal
  onChunk?: (chunk: Buffer) => void
  timeoutMs?: number
}

/** A gateway in front of stand-ins, and its books. */
export interface CostFixture<Started extends Gateway = Gateway> {
  fixture: ProviderFixture<Started>
  dataDir: string
  ask(scenario: ProviderScenario, asking: Asking): Promise<Reply>
  books(key: string): Books
  /** Resolves when nothing is held for this caller any more. */
  settled(key: string): Promise<Books>
  close(): Promise<void>
}

/** Starts the gateway with a data folder that can be read. */
export function openCostFixture(options: ProviderFixtureOptions = {}): Promise<CostFixture> {
  return openCostFixtureWith(startGateway, options)
}

/** Opens a fixture whose gateway `start` starts. */
export async function openCostFixtureWith<Started extends Gateway>(
  start: Start<Started>,
  { config = {}, env = {} }: ProviderFixtureOptions = {},
): Promise<CostFixture<Started>> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'turnpike-cost-'))
  const ownEnv = { SVC_PIPELINE: PIPELINE, SVC_DATA_DIR: dataDir, ...env }
  const fixture = await openProviderFixtureWith(start, { config, env: ownEnv })
  const books = (key: string) => readBooks(dataDir, key)
  return {
    fixture,
    dataDir,
    books,
    ask(
      scenario,
      { as, guard = 'per_day=1', pipe, stream = false, extra, dialect = 'messages', prompt = 'hi', ...more },
    ) {
      const { headers: own, ...rest } = more
      const headers = { authorization: `Bearer ${tokenOf(as)}`, 'x-svc-pipe': pipe ?? guardedBy(guard), ...own }
      const body = ask(prompt, { ...(stream && { stream }), ...(dialect === 'chat' && { model: 'gpt-4o' }), ...extra })
      const sent = dialect === 'responses' ? toResponses(body) : body
      return scenario.send({ path: PATHS[dialect], headers, body: sent, ...rest })
    },
    async settled(key) {
      await eventually(() => books(key).heldNanoUsd === 0, `nothing is held for ${key}`)
      return books(key)
    },
    async close() {
      await fixture.close()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

const PATHS = { messages: '/v1/messages', chat: '/v1/chat/completions', responses: '/v1/responses' } as const

function toResponses({ messages: input, max_tokens, ...rest }: JsonObject): JsonObject {
  return { ...rest, input, max_output_tokens: max_tokens }
}

/** Returns the credential of a caller with any name, such as a test's title. */
export function tokenOf(caller: string): string {
  return hash('sha256', caller)
}

/** Reads a caller's rows in the database, beside the gateway. */
export function readBooks(dataDir: string, key: string): Books {
  const scope = scopeOf(key)
  const db = new DatabaseSync(path.join(dataDir, 'turnpike.db'), { readOnly: true })
  try {
    // The day's, or the month's where no day has a cap.
    const sums = db.prepare(`select * from spend_window where scope = ? order by window_id`).get(scope)
    const rows = db.prepare(`select * from spend_hold where state = 'settled'`).all()
    return {
      settledNanoUsd: Number(sums?.settled_nano_usd ?? 0),
      heldNanoUsd: Number(sums?.held_nano_usd ?? 0),
      holds: rows.filter(({ windows }) => String(windows).includes(scope)).map(toHold),
    }
  } finally {
    db.close()
  }
}

/** Returns the settled holds of all callers, by the scope of a caller; `undefined` while any is not settled yet. */
export function readSettledHolds(dataDir: string): Map<string, Books['holds']> | undefined {
  const db = new DatabaseSync(path.join(dataDir, 'turnpike.db'), { readOnly: true })
  try {
    if (db.prepare('select 1 from spend_window where held_nano_usd > 0').get() !== undefined) return undefined
    const rows = db.prepare(`select * from spend_hold where state = 'settled'`).all()
    const byScope = Map.groupBy(rows, ({ windows }) => /key:local:[\w-]+/.exec(String(windows))?.[0] ?? '')
    return new Map(Array.from(byScope, ([scope, holds]) => [scope, holds.map(toHold)]))
  } finally {
    db.close()
  }
}

/** Returns the scope of a caller's windows. */
export function scopeOf(caller: string): string {
  return `key:local:${hash('sha256', tokenOf(caller), 'base64url')}`
}

function toHold(row: Record<string, unknown>): Books['holds'][number] {
  return { costNanoUsd: Number(row.cost_nano_usd), amountNanoUsd: Number(row.amount_nano_usd) }
}

/** Returns the rest of the day, in nano-USD, from a reply's header. */
export function remaining({ headers }: Pick<Reply, 'headers'>): number {
  return Math.round(Number(headers['x-svc-budget-day-remaining']) * NANO)
}

/** Returns the guard's action in the log for a request, by its reply. */
export async function actionOf(
  { gateway }: ProviderFixture,
  reply: Pick<Reply, 'headers'>,
): Promise<string | undefined> {
  const id = String(reply.headers['request-id'])
  const find = () => {
    const lines = gateway.log().split('\n').map(parseJson).filter(isJsonObject)
    return lines.find(({ requestId, providerRequestId }) => requestId === id || providerRequestId === id)
  }
  await eventually(() => find() !== undefined, `the log has a line of ${id}`)
  return /cost-guard:(\w+)/.exec(String(valueAt(find(), 'steps')))?.[1]
}
