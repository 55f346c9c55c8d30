/**
 * Simulates mode `bound` on texts with intents: the same intent is the same answer, and the judge knows it.
 *   node eval/semantic/bound.ts --data <folder> [--split dev|test|all] [--delta 0.02] [--seeds 20] [--days 1] [--audit 0.2]
 * Each day the requests come once, in another order, to an empty cache; the evidence stays.
 */
import { existsSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { BoundPool } from '../../plugins/semantic-cache/bound/pool.ts'
import { lexicalEmbedder } from '../../plugins/semantic-cache/lexical-embedder.ts'
import { lookUp } from '../../plugins/semantic-cache/lookup.ts'
import { normaliseText } from '../../plugins/semantic-cache/normalise.ts'
import { ScopeIndex } from '../../plugins/semantic-cache/scope-index.ts'
import { type EvalRequest, readData } from './data.ts'
import { shuffle } from './measure.ts'

/** What one day came to. */
export interface BoundCounts {
  requests: number
  served: number
  wrong: number
  judged: number
}

/** How mode `bound` is tried. */
export interface BoundTrial {
  readonly delta: number
  readonly auditShare: number
  readonly days: number
  readonly seed: number
}

const LONG_AFTER_MS = Number.MAX_SAFE_INTEGER
const DAY_SEEDS = 101

/** Sends the requests through one pool, day after day; what is not served is answered, judged and kept. */
export async function measureBound(requests: readonly EvalRequest[], trial: BoundTrial): Promise<BoundCounts[]> {
  const pool = new BoundPool({ ...trial, random: randomOf(trial.seed) })
  const days: BoundCounts[] = []
  for (let day = 0; day < trial.days; day++)
    days.push(await measureDay(shuffle(requests, trial.seed * DAY_SEEDS + day), pool, trial))
  return days
}

async function measureDay(requests: readonly EvalRequest[], pool: BoundPool, { delta }: BoundTrial) {
  const counts: BoundCounts = { requests: requests.length, served: 0, wrong: 0, judged: 0 }
  const index = new ScopeIndex(lexicalEmbedder.dimensions, requests.length)
  const answers = new Map<string, string>()
  const { signal } = new AbortController()
  for (const [i, { text, answer }] of requests.entries()) {
    const normalised = normaliseText(text)
    const asked = {
      text,
      normalised,
      literalReason: undefined,
      mode: { kind: 'bound', delta },
      nowMs: 0,
      signal,
    } as const
    const { near, vector } = await lookUp(index, lexicalEmbedder, asked)
    let id = String(i)
    const decision = near === undefined ? undefined : pool.decide(near.score)
    if (near !== undefined && decision !== undefined && decision.action !== 'refuse') {
      const isWrong = answers.get(near.entry.id) !== answer
      if (decision.action === 'serve') {
        counts.served++
        if (isWrong) counts.wrong++
        continue
      }
      counts.judged++
      pool.add({ score: near.score, isWrong, weight: decision.weight })
      if (!isWrong) id = near.entry.id
    }
    answers.set(id, answer)
    index.add({ id, text: normalised, storedAtMs: 0, expiresAtMs: LONG_AFTER_MS }, vector)
  }
  return counts
}

/** Lehmer's generator: the same on every run. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48271) % 2147483647
    return state / 2147483647
  }
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      data: { type: 'string' },
      split: { type: 'string', default: 'all' },
      delta: { type: 'string', default: '0.02' },
      seeds: { type: 'string', default: '20' },
      days: { type: 'string', default: '1' },
      audit: { type: 'string', default: '0.2' },
    },
  })
  const { data, split } = values
  if (data === undefined || !existsSync(data) || (split !== 'dev' && split !== 'test' && split !== 'all')) {
    throw new Error('Expected --data to name a folder of labelled data, and --split to be dev, test or all.')
  }
  const trial = { delta: Number(values.delta), auditShare: Number(values.audit), days: Number(values.days) }
  for (const [name, requests] of readData(data, split).intents) {
    for (let seed = 1; seed <= Number(values.seeds); seed++) {
      for (const [day, counts] of (await measureBound(requests, { ...trial, seed })).entries()) {
        const { served, wrong, judged } = counts
        const share = (part: number, whole: number) => (whole === 0 ? '–' : `${((100 * part) / whole).toFixed(2)} %`)
        console.log(
          `${name}  seed ${seed}  day ${day + 1}  served ${share(served, counts.requests)}  wrong/served ${share(wrong, served)} (${wrong} of ${served})  judged ${judged}`,
        )
      }
    }
  }
}
