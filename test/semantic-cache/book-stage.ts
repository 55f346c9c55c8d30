import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test, { type ExecutionContext } from 'ava'
import type { EntryBook } from '../../plugins/semantic-cache/entries/book.ts'
import { LocalBook } from '../../plugins/semantic-cache/entries/local/local-book.ts'
import { PostgresBook } from '../../plugins/semantic-cache/entries/postgres/postgres-book.ts'
import { RedisBook } from '../../plugins/semantic-cache/entries/redis/redis-book.ts'
import { Scopes, type ScopesOptions } from '../../plugins/semantic-cache/scopes.ts'
import { createRecordingLog, type RecordingLog } from '../support/recording-log.ts'
import { createRedis, isRedisExpected } from '../support/redis.ts'
import { vectorServerOfFile } from '../support/vector-database.ts'

/** Components of a vector in these tests. */
const DIMENSIONS = 4

/** A place that several processes share. */
export interface SharedPlace {
  /** What one process opens there. */
  open(nowMs?: () => number): EntryBook
  readonly log: RecordingLog
}

/** Creates an empty place; it goes with the test. */
export type CreatePlace = (t: ExecutionContext) => Promise<SharedPlace>

/** A file in a folder of its own. */
export async function localPlace(t: ExecutionContext): Promise<SharedPlace> {
  const folder = await mkdtemp(path.join(tmpdir(), 'turnpike-entries-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const log = createRecordingLog()
  const maxBytes = 64 * 1024 * 1024
  return { log, open: (nowMs = Date.now) => new LocalBook({ folder, maxBytes, clock: { nowMs }, log }) }
}

async function redisPlace(t: ExecutionContext): Promise<SharedPlace> {
  const { url } = await createRedis(t)
  const log = createRecordingLog()
  return { log, open: (nowMs = Date.now) => new RedisBook({ url, clock: { nowMs }, log }) }
}

const vectorServer = vectorServerOfFile(test)

async function postgresPlace(t: ExecutionContext): Promise<SharedPlace> {
  const url = await (await vectorServer()).createDatabase(t)
  const log = createRecordingLog()
  const maxBytes = 64 * 1024 * 1024
  return { log, open: (nowMs = Date.now) => new PostgresBook({ url, maxBytes, clock: { nowMs }, log }) }
}

/** The engines that are to do the same. */
export const ENGINES: Readonly<Record<string, CreatePlace>> = {
  local: localPlace,
  ...(isRedisExpected && { redis: redisPlace }),
  postgres: postgresPlace,
}

/** The scopes of one process; they are closed with the test. */
export function openScopes(
  t: ExecutionContext,
  place: SharedPlace,
  options: Pick<ScopesOptions, 'maxScopeEntries'> & { nowMs?: () => number } = {},
): Scopes {
  const { nowMs = Date.now, ...limits } = options
  const keeping = { book: place.open(nowMs), clock: { nowMs }, log: place.log }
  const scopes = new Scopes(DIMENSIONS, 10_000, { ...limits, keeping })
  t.teardown(() => scopes.close())
  return scopes
}
