/**
 * What the semantic cache costs on the main loop: `node --expose-gc bench/semantic-cache.ts`.
 * A lookup is embedding, a scan of 1,000 entries and the guard on five neighbours that it refuses, the worst case.
 * Memory is that of entries of fifteen words in scopes of 1,000, replies left out.
 */
import { lexicalEmbedder } from '../plugins/semantic-cache/embedders/lexical.ts'
import { lookUp } from '../plugins/semantic-cache/lookup.ts'
import { Scopes } from '../plugins/semantic-cache/scopes.ts'

const ENTRIES = 1000
const SCOPES = 20
const WARM_UP = 300
const LOOKUPS = 2000
const WORDS = 'harbour kettle meadow lantern copper violin garden ladder winter basket'.split(' ')

/** Fifteen words; neighbours share all but two. */
function textOf(n: number): string {
  const word = (i: number) => `${WORDS[i % WORDS.length]}${String.fromCharCode(97 + (i % 26))}`
  return `How do I move the ${word(n)} from the old ${word(n >> 3)} to a ${word(n >> 6)} without losing order ${n}?`
}

function fill(scopes: Scopes, scope: string): void {
  for (let n = 0; n < ENTRIES; n++) {
    const text = textOf(n)
    const entry = { id: `${scope}-${n}`, text, storedAtMs: 0, expiresAtMs: Number.MAX_SAFE_INTEGER }
    scopes.add(scope, entry, lexicalEmbedder.embed(text))
  }
}

function bytesInUse(): number {
  globalThis.gc?.()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

const before = bytesInUse()
const scopes = new Scopes(lexicalEmbedder.dimensions, SCOPES * ENTRIES)
for (let i = 0; i < SCOPES; i++) fill(scopes, `scope ${i}`)
const bytesPerEntry = (bytesInUse() - before) / (SCOPES * ENTRIES)

const { signal } = new AbortController()
const timesMs: number[] = []
let foundCount = 0
let cpuBefore = process.threadCpuUsage()
for (let n = 0; n < WARM_UP + LOOKUPS; n++) {
  if (n === WARM_UP) cpuBefore = process.threadCpuUsage()
  const text = textOf(n % ENTRIES).replace(/order \d+/, `order ${ENTRIES + n}`)
  const startedMs = performance.now()
  const { found } = await lookUp(scopes.get('scope 0'), lexicalEmbedder, {
    text,
    normalised: text,
    literalReason: undefined,
    mode: { kind: 'strict' },
    nowMs: 0,
    signal,
  })
  if (n >= WARM_UP) timesMs.push(performance.now() - startedMs)
  if (found !== undefined) foundCount++
}
const cpu = process.threadCpuUsage(cpuBefore)
const cpuMs = (cpu.user + cpu.system) / 1000 / LOOKUPS
timesMs.sort((a, b) => a - b)
const quantile = (share: number) => (timesMs[Math.floor(share * timesMs.length)] ?? 0).toFixed(2)
console.log(
  `lookup in ${ENTRIES}: p50 ${quantile(0.5)} ms, p95 ${quantile(0.95)} ms, p99 ${quantile(0.99)} ms; of CPU ${cpuMs.toFixed(2)} ms; found ${foundCount}`,
)
console.log(`memory: ${bytesPerEntry.toFixed(0)} bytes an entry`)
