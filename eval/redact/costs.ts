import { readFileSync } from 'node:fs'
import path from 'node:path'
import { KINDS, type Kind } from '../../plugins/redact/detect/finding.ts'
import { createScan } from '../../plugins/redact/detect/scan.ts'
import { RequestDocument } from '../../src/core/request/request.ts'

/** Times of one size, in milliseconds: median of many runs. */
export interface Cost {
  readonly characters: number
  readonly scanMs: number
  /** Parsing the body, for comparison. */
  readonly parseMs: number
}

const ROOT = path.resolve(import.meta.dirname, '../..')
const FILES = ['src/core/request/exchange.ts', 'docs/lifecycle.md', 'src/core/json/scan.ts', 'docs/plugins.md']
const WARM_UP = 200
const RUNS = 101

/** Measures the scan of code and prose of some sizes. */
export function measureCosts(sizes: readonly number[]): Cost[] {
  const text = FILES.map((file) => readFileSync(path.join(ROOT, file), 'utf8')).join('\n')
  const scan = createScan(new Set<Kind>(KINDS.filter((kind) => kind !== 'host')))
  return sizes.map((characters) => {
    // Flat, as a parsed text is.
    const sized = Buffer.from(text.repeat(Math.ceil(characters / text.length)).slice(0, characters)).toString()
    const body = Buffer.from(JSON.stringify({ model: 'm', messages: [{ role: 'user', content: sized }] }))
    return {
      characters,
      scanMs: medianMs(() => scan(sized)),
      parseMs: medianMs(() => new RequestDocument(body).field('messages')),
    }
  })
}

function medianMs(work: () => unknown): number {
  for (let i = 0; i < WARM_UP; i++) work()
  const times = Array.from({ length: RUNS }, () => {
    const begunMs = performance.now()
    work()
    return performance.now() - begunMs
  })
  return times.sort((a, b) => a - b)[RUNS >> 1] ?? 0
}
