/**
 * What a scope of many entries costs: `node --expose-gc bench/semantic-scopes.ts [entries]`, by default 100,000.
 * Texts are of the kind that a help desk hears. A search is timed as a request sees it; its true neighbours are found by a
 * scan, to tell how many of them the graph proposes.
 */
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { cosineOf } from '../plugins/semantic-cache/cosine.ts'
import { lexicalEmbedder } from '../plugins/semantic-cache/embedders/lexical.ts'
import { Graphs } from '../plugins/semantic-cache/graph/graphs.ts'
import { Scopes } from '../plugins/semantic-cache/scopes.ts'

const ENTRIES = Number(process.argv[2] ?? 100_000)
const ADDED_AT_ONCE = 100
const SEARCHES = 1000
const CHECKED = 10
const NEAR = { count: 5, leastCosine: 0.3, nowMs: 0 }
const VERBS = 'renew cancel change return track repair install update delete export import share print move book'.split(
  ' ',
)
const THINGS =
  'passport order invoice parcel printer router account licence ticket garden kettle violin boat ladder lamp'.split(' ')
const PLACES =
  'Berlin Oslo Madrid Lisbon Vienna Prague Dublin Athens Warsaw Helsinki Rome Paris London Zurich Riga'.split(' ')
const log = { debug() {}, info() {}, warn: console.warn, error: console.error, child: () => log }

/** Different for each number below some 600,000. */
function textOf(n: number): string {
  const pick = (words: readonly string[], divisor: number) => words[Math.floor(n / divisor) % words.length]
  return `How do I ${pick(VERBS, 1)} the ${pick(THINGS, 15)} from ${pick(PLACES, 225)} that I have had in ${pick(PLACES, 3375)} since ${1900 + (n % 97)} with the ${pick(THINGS, 50_625)}?`
}

const folder = mkdtempSync(path.join(tmpdir(), 'turnpike-graphs-'))
const open = () => new Graphs({ folder }, log)
const graphs = open()
const scopes = new Scopes(lexicalEmbedder.dimensions, ENTRIES, { maxScopeEntries: ENTRIES, graphs })

/** What is in use on the main thread, and what the process has got from the system, free room and the other thread included. */
function bytesInUse(): { live: number; rss: number } {
  globalThis.gc?.()
  const { heapUsed, arrayBuffers, rss } = process.memoryUsage()
  return { live: heapUsed + arrayBuffers, rss }
}

const before = bytesInUse()
const delay = monitorEventLoopDelay({ resolution: 1 })
delay.enable()
const vectors: Int8Array[] = []
for (let n = 0; n < ENTRIES; n++) {
  const text = textOf(n)
  const vector = lexicalEmbedder.embed(text)
  if (n % Math.ceil(ENTRIES / CHECKED) === 0) vectors.push(vector)
  scopes.add('s', { id: String(n), text, storedAtMs: 0, expiresAtMs: Number.MAX_SAFE_INTEGER }, vector)
  if (n % ADDED_AT_ONCE === 0) await sleep(0)
}
const startedMs = performance.now()
const index = scopes.get('s')
if (index === undefined) throw new Error('Expected the scope to be there')
const candidates = async (text: string) => await index.search(lexicalEmbedder.embed(text), NEAR)
while (!index.isWhole) await sleep(100)
console.log(`built ${((performance.now() - startedMs) / 1000).toFixed(0)} s after the last was added`)
console.log(`longest block while adding and building: ${(delay.max / 1e6).toFixed(1)} ms`)
const after = bytesInUse()
const perEntry = (bytes: number) => `${(bytes / ENTRIES).toFixed(0)} bytes an entry`
console.log(
  `memory: in use ${perEntry(after.live - before.live)}, text and all; of the process ${perEntry(after.rss - before.rss)}`,
)

const timesMs: number[] = []
delay.reset()
for (let i = 0; i < SEARCHES; i++) {
  const text = textOf((i * 7919) % ENTRIES).replace('How do I', 'How can I')
  const searchedMs = performance.now()
  await candidates(text)
  timesMs.push(performance.now() - searchedMs)
}
timesMs.sort((a, b) => a - b)
const quantile = (share: number) => (timesMs[Math.floor(share * timesMs.length)] ?? 0).toFixed(2)
console.log(`search in ${index.size}: p50 ${quantile(0.5)} ms, p95 ${quantile(0.95)} ms, p99 ${quantile(0.99)} ms`)

let found = 0
let first = 0
for (const vector of vectors.slice(0, CHECKED)) {
  const near = await index.search(vector, NEAR)
  const cosines: number[] = []
  for (let n = 0; n < ENTRIES; n++) cosines.push(cosineOf(vector, lexicalEmbedder.embed(textOf(n))))
  cosines.sort((a, b) => b - a)
  const fifth = cosines[4] ?? 0
  found += near.filter(({ cosine }) => cosine >= fifth - 1e-9).length
  first += (near[0]?.cosine ?? 0) >= (cosines[0] ?? 0) - 1e-9 ? 1 : 0
}
console.log(`true neighbours found: ${found} of ${CHECKED * 5}, nearest of all: ${first} of ${CHECKED}`)
const writtenMs = performance.now()
await scopes.close()
console.log(`written and closed in ${(performance.now() - writtenMs).toFixed(0)} ms`)
const graphFile = readdirSync(folder).find((name) => name.endsWith('.hnsw'))
if (graphFile !== undefined) console.log(`graph: ${perEntry(statSync(path.join(folder, graphFile)).size)}`)
rmSync(folder, { recursive: true })
