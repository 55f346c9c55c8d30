/**
 * What entries in PostgreSQL cost: `DATABASE_URL=… node bench/semantic-postgres.ts`, in an empty database with `vector`.
 * Scopes of several sizes lie in one table. For each: loading it as a request does that is the first to ask, and proposing
 * its nearest entries in the database.
 */

import { lexicalEmbedder } from '../plugins/semantic-cache/embedders/lexical.ts'
import type { Fact } from '../plugins/semantic-cache/entries/fact.ts'
import { PostgresBook } from '../plugins/semantic-cache/entries/postgres/postgres-book.ts'

const SIZES = [100, 1000, 2000, 10_000, 50_000]
const TRIES = 200
const LOADS = 20
const AT_ONCE = 200
const HOUR_MS = 3_600_000
const log = { debug() {}, info() {}, warn: console.warn, error: console.error, child: () => log }
const url = process.env.DATABASE_URL
if (url === undefined) throw new Error('Expected DATABASE_URL to name an empty database')

function factOf(scope: string, n: number): Fact {
  const text = `How do I renew item ${n} of ${scope} that I have had since ${1900 + (n % 97)} in town ${n % 1013}?`
  const entry = { id: String(n), text, storedAtMs: Date.now(), expiresAtMs: Date.now() + HOUR_MS }
  return { kind: 'entry', entry, vector: lexicalEmbedder.embed(text) }
}

async function time(tries: number, work: (i: number) => Promise<unknown>): Promise<string> {
  const timesMs: number[] = []
  for (let i = 0; i < tries; i++) {
    const startedMs = performance.now()
    await work(i)
    timesMs.push(performance.now() - startedMs)
  }
  timesMs.sort((a, b) => a - b)
  const at = (share: number) => timesMs[Math.floor(timesMs.length * share)]?.toFixed(2)
  return `p50 ${at(0.5)} ms, p95 ${at(0.95)} ms`
}

const book = new PostgresBook({ url, maxBytes: 1e12, clock: { nowMs: () => Date.now() }, log })
for (const size of SIZES) {
  const scope = `scope of ${size}`
  for (let n = 0; n < size; n += AT_ONCE) {
    const facts = Array.from({ length: Math.min(AT_ONCE, size - n) }, (_, i) => factOf(scope, n + i))
    await book.append(scope, facts)
  }
}
console.log(`append: ${await time(TRIES, (i) => book.append('another', [factOf('another', i)]))}`)
for (const size of SIZES) {
  const scope = `scope of ${size}`
  console.log(`${scope}: load ${await time(LOADS, () => book.load(scope, () => {}))}`)
  let late = 0
  const search = async (i: number) => {
    const fact = factOf(scope, i * 7)
    if (fact.kind !== 'entry' || fact.vector === undefined) return
    await book.candidates.search(scope, fact.vector).catch(() => late++)
  }
  console.log(`${scope}: nearest ${await time(TRIES, search)}, ${late} of ${TRIES} too late`)
}
await book.close()
