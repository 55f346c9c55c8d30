/**
 * Looks for the first and the last of 2,500 entries of one scope, and prints what it found and what was logged:
 * `node large-scope.ts [address of PostgreSQL]`, with entries there or in memory.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { withCandidates } from '../../plugins/semantic-cache/entries/postgres/candidates.ts'
import { PostgresBook } from '../../plugins/semantic-cache/entries/postgres/postgres-book.ts'
import { Graphs } from '../../plugins/semantic-cache/graph/graphs.ts'
import { Scopes } from '../../plugins/semantic-cache/scopes.ts'
import { createRecordingLog } from '../support/recording-log.ts'

const DIMENSIONS = 512
const ENTRIES = 2500
const PORTION = 100
const HOUR_MS = 3_600_000
const NEAR = { count: 5, leastCosine: 0.5, nowMs: 0 }
const WAIT_MS = 40_000

const [, , url] = process.argv
const log = createRecordingLog()
const clock = { nowMs: () => Date.now() }
const book = url === undefined ? undefined : new PostgresBook({ url, maxBytes: 1e9, clock, log })
const graphs = new Graphs({ folder: undefined }, log)
const scopes = new Scopes(DIMENSIONS, 10_000, {
  maxScopeEntries: 10_000,
  keeping: book && { book, clock, log },
  graphs: book === undefined ? graphs : withCandidates(graphs, book.candidates),
})

/** Three of its components; five of the numbers share a direction. */
function vectorOf(n: number): Int8Array {
  const vector = new Int8Array(DIMENSIONS)
  for (const step of [1, 37, 211]) vector[(n * step + step) % DIMENSIONS] = 60 + (n % 13)
  return vector
}

async function find(n: number): Promise<boolean> {
  const { index } = await scopes.open('s')
  const found = (await index?.search(vectorOf(n), NEAR)) ?? []
  return found.some(({ entry }) => entry.text === `text ${n}`)
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadlineMs = performance.now() + WAIT_MS
  while (!(await isSo()) && performance.now() < deadlineMs) await sleep(20)
}

const facts = Array.from({ length: ENTRIES }, (_, n) => {
  const entry = { id: `id ${n}`, text: `text ${n}`, storedAtMs: Date.now(), expiresAtMs: Date.now() + HOUR_MS }
  return { kind: 'entry', entry, vector: vectorOf(n) } as const
})
// Behind a request's back they would come too fast for a slow database, and some be given up.
for (let n = 0; n < ENTRIES; n += PORTION) await book?.append('s', facts.slice(n, n + PORTION))
await until(async () => (await scopes.open('s')).reason === undefined)
if (book === undefined) for (const { entry, vector } of facts) scopes.add('s', entry, vector)
await until(() => log.events().includes('graph.missing'))
let first = false
let last = false
async function look(): Promise<boolean> {
  first ||= await find(0)
  last ||= await find(ENTRIES - 1)
  return first && last
}
await look()
// A search may be over its time.
if (book !== undefined) await until(look)
const missing = log.lines.filter(({ event }) => event === 'graph.missing').length
await scopes.close()
process.stdout.write(JSON.stringify({ first, last, missing }))
