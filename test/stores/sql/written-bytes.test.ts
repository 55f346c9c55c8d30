import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test from 'ava'
import type { FinishedRequest } from '../../../src/core/telemetry/telemetry.ts'
import { createRequestId } from '../../../src/http/request-id.ts'
import { runGroup } from '../../../src/stores/sql/sqlite/group.ts'
import { openDatabase } from '../../../src/stores/sql/sqlite/open.ts'
import { toRow } from '../../../src/stores/sql/telemetry/rows.ts'
import { hasProcessFacts } from '../../support/process-facts.ts'
import { sampleRequest } from '../../support/telemetry.ts'

/*
 * SQLite writes whole pages. A row costs as many as the indexes that it changes in places of their own; a temporary copy of
 * changed pages, which some statements make, doubles that.
 */
const BEGIN_MS = 1_795_305_600_000
const BATCHES = 80
const ROWS = 50
/** Counted after these, when the indexes have many pages. */
const FIRST_BATCHES = 40

/** Returns the bytes that this thread has passed to the kernel. */
function writtenBytes(): number {
  return Number(/^wchar: (\d+)$/m.exec(readFileSync('/proc/thread-self/io', 'utf8'))?.[1])
}

/** Stores batches of requests, and returns the bytes written for each of them. */
async function bytesPerRequest(conversationOf: (nth: number) => number): Promise<number> {
  const folder = await mkdtemp(path.join(tmpdir(), 'turnpike-written-'))
  const database = await openDatabase(path.join(folder, 'telemetry.db'), 'telemetry')
  let nth = 0
  const create = (): FinishedRequest => {
    const startedAtMs = BEGIN_MS + nth
    const digest = createHash('sha256')
      .update(`${conversationOf(nth++)}`)
      .digest('hex')
    const id = `conv_${digest.slice(0, 26)}`
    const conversation = {
      id,
      rootId: id,
      source: 'prefix' as const,
      client: null,
      parentId: null,
      agent: null,
      turn: 1,
    }
    return sampleRequest({ startedAtMs, requestId: createRequestId(startedAtMs), conversation })
  }
  try {
    const putBatches = async (count: number) => {
      for (let i = 0; i < count; i++) {
        const input = Array.from({ length: ROWS }, create).map(toRow)
        const group = {
          commands: [{ name: 'telemetry.put' as const, input }],
          nowMs: BEGIN_MS,
          deadlineMs: Number.POSITIVE_INFINITY,
        }
        const [outcome] = await runGroup(database, group)
        if (outcome === undefined || 'fault' in outcome)
          throw new Error(`Expected stored rows: ${JSON.stringify(outcome)}`)
      }
    }
    await putBatches(FIRST_BATCHES)
    const before = writtenBytes()
    await putBatches(BATCHES - FIRST_BATCHES)
    return (writtenBytes() - before) / ((BATCHES - FIRST_BATCHES) * ROWS)
  } finally {
    database.raw.close()
    await rm(folder, { recursive: true })
  }
}

for (const [claim, conversationOf, most] of [
  ['the next turn of one of twenty conversations', (nth: number) => nth % 20, 7700],
  ['the first of a conversation', (nth: number) => nth, 16_000],
] as const)
  test.serial(`telemetry: ${claim} is stored with few bytes`, async (t) => {
    if (!hasProcessFacts) return t.pass()
    const bytes = await bytesPerRequest(conversationOf)
    t.true(bytes < most, `${Math.round(bytes)} bytes a request`)
  })
