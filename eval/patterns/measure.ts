import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { openPatterns, type PatternsModule, writePatterns } from '../../test/support/patterns.ts'
import type { EvalData } from './data.ts'
import { byAllWays, byExample, byTrigger, phraseFor } from './pattern-files.ts'
import { type ReplayFigures, replay } from './replay.ts'

/** Figures of a measurement; shares are between 0 and 1. */
export interface Figures {
  readonly explicit: { readonly asked: number; readonly recall: number; readonly strays: number }
  readonly examples: {
    readonly asked: number
    /** Share of injections of the right pattern, and of those as the first. */
    readonly recall: number
    readonly recallFirst: number
    /** Patterns injected where one was right. */
    readonly injectedEach: number
    readonly unrelated: number
    readonly falseFires: number
  }
  readonly time: {
    readonly patterns: number
    readonly requests: number
    readonly p50Ms: number
    readonly p99Ms: number
  }
  readonly replay: ReplayFigures | undefined
}

const MAX_TOKENS = 1500
const TIMED_PATTERNS = 200
const ROUNDS = 5

/** Measures the plugin on the data, through its middleware. */
export async function measure(data: EvalData): Promise<Figures> {
  const folder = mkdtempSync(path.join(tmpdir(), 'turnpike-eval-'))
  const open = async (name: string, files: Record<string, string>) => {
    const directory = path.join(folder, name)
    writePatterns(directory, files)
    return openPatterns({ dirs: [directory] })
  }
  try {
    return {
      explicit: await measureExplicit(data, await open('triggers', byTrigger(data.patterns))),
      examples: await measureExamples(data, await open('examples', byExample(data.patterns))),
      time: await measureTime(data, await open('time', byAllWays(data.patterns.slice(0, TIMED_PATTERNS)))),
      replay: await measureReplay(data, () => open('replay', byAllWays(data.patterns))),
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Returns the patterns injected into one request with this text. */
async function injectedInto(module: PatternsModule, text: string): Promise<string[]> {
  const { header } = await module.run({ body: bodyOf(text) })
  return header?.split(', ') ?? []
}

function bodyOf(text: string): string {
  return JSON.stringify({ model: 'claude-sonnet-4-5', max_tokens: 1000, messages: [{ role: 'user', content: text }] })
}

/** Measures triggers, each in the middle of an unrelated text. */
async function measureExplicit({ queried, unrelated }: EvalData, module: PatternsModule): Promise<Figures['explicit']> {
  let found = 0
  let strays = 0
  for (const [i, pattern] of queried.entries()) {
    const around = unrelated[i % (unrelated.length || 1)] ?? 'And then this.'
    const names = await injectedInto(module, `${around} Please ${phraseFor(pattern)}. ${around}`)
    if (names.includes(pattern.id)) found++
    strays += names.filter((name) => name !== pattern.id).length
  }
  for (const text of unrelated) strays += (await injectedInto(module, text)).length
  return { asked: queried.length, recall: share(found, queried.length), strays }
}

async function measureExamples({ queried, unrelated }: EvalData, module: PatternsModule): Promise<Figures['examples']> {
  const counts = { found: 0, first: 0, injected: 0, fired: 0 }
  for (const { id, query } of queried) {
    const names = await injectedInto(module, query)
    if (names.includes(id)) counts.found++
    if (names[0] === id) counts.first++
    counts.injected += names.length
  }
  for (const text of unrelated) if ((await injectedInto(module, text)).length > 0) counts.fired++
  return {
    asked: queried.length,
    recall: share(counts.found, queried.length),
    recallFirst: share(counts.first, queried.length),
    injectedEach: share(counts.injected, queried.length),
    unrelated: unrelated.length,
    falseFires: share(counts.fired, unrelated.length),
  }
}

/** Measures one request at a time, each new to the plugin. A text counts with the median of its rounds. */
async function measureTime({ queried, unrelated }: EvalData, module: PatternsModule): Promise<Figures['time']> {
  const texts = [...queried.map(({ query }) => query), ...unrelated]
  const roundsMs = texts.map(() => [] as number[])
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [i, text] of texts.entries()) {
      const body = bodyOf(`${text} (${round})`)
      const startMs = performance.now()
      await module.run({ body })
      if (round > 0) roundsMs[i]?.push(performance.now() - startMs)
    }
  }
  const timesMs = roundsMs.map((times) => quantile(times, 0.5))
  return {
    patterns: TIMED_PATTERNS,
    requests: texts.length,
    p50Ms: quantile(timesMs, 0.5),
    p99Ms: quantile(timesMs, 0.99),
  }
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0
}

/** Replays the users' messages, with a request for a pattern in every other turn. */
async function measureReplay(
  { sessions, queried }: EvalData,
  open: () => Promise<PatternsModule>,
): Promise<ReplayFigures | undefined> {
  if (sessions.length === 0) return undefined
  const modules = [await open(), await open()]
  let next = 0
  const seasoned = sessions.map((turns) =>
    turns.map((text, turn) => {
      const pattern = turn % 2 === 0 ? queried[next++ % queried.length] : undefined
      return pattern === undefined ? text : `${text}\n\n${pattern.query}`
    }),
  )
  return replay(seasoned, { modules, maxTokens: MAX_TOKENS })
}

function share(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole
}
