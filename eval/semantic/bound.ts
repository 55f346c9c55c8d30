import { BoundPool } from '../../plugins/semantic-cache/bound/pool.ts'
import type { Embedder } from '../../plugins/semantic-cache/embedder.ts'
import { lookUp } from '../../plugins/semantic-cache/lookup.ts'
import { normaliseText } from '../../plugins/semantic-cache/normalise.ts'
import { ScopeIndex } from '../../plugins/semantic-cache/scope-index.ts'
import type { EvalRequest } from './data.ts'
import { shuffle } from './measure.ts'
import { lehmer } from './random.ts'
import { openWholeGraph } from './whole-graph.ts'

/** What one day came to. */
export interface BoundCounts {
  requests: number
  served: number
  wrong: number
  judged: number
}

/** How mode `bound` is tried. */
export interface BoundTrial {
  readonly embedder: Embedder
  readonly delta: number
  readonly auditShare: number
  readonly days: number
  readonly seed: number
}

const LONG_AFTER_MS = Number.MAX_SAFE_INTEGER
const DAY_SEEDS = 101
const LEHMER_MODULUS = 2 ** 31 - 1

/**
 * Simulates mode `bound` on texts with intents: the same intent is the same answer, and the judge knows it. Each day the
 * requests come once, in another order, to an empty cache; what is not served is answered, judged and kept, and the
 * evidence stays.
 */
export async function measureBound(requests: readonly EvalRequest[], trial: BoundTrial): Promise<BoundCounts[]> {
  const next = lehmer(trial.seed)
  const pool = new BoundPool({ ...trial, random: () => next() / LEHMER_MODULUS })
  const days: BoundCounts[] = []
  for (let day = 0; day < trial.days; day++)
    days.push(await measureDay(shuffle(requests, trial.seed * DAY_SEEDS + day), pool, trial))
  return days
}

async function measureDay(requests: readonly EvalRequest[], pool: BoundPool, { delta, embedder }: BoundTrial) {
  const counts: BoundCounts = { requests: requests.length, served: 0, wrong: 0, judged: 0 }
  const index = new ScopeIndex(embedder.dimensions, { entries: requests.length }, openWholeGraph)
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
    const { near, vector } = await lookUp(index, embedder, asked)
    let id = String(i)
    const decision = near === undefined ? undefined : pool.decide(near.score)
    if (near !== undefined && decision !== undefined && decision !== 'refuse') {
      const isWrong = answers.get(near.entry.id) !== answer
      if (decision === 'serve') {
        counts.served++
        if (isWrong) counts.wrong++
        continue
      }
      counts.judged++
      pool.add({ score: near.score, isWrong })
      if (!isWrong) id = near.entry.id
    }
    answers.set(id, answer)
    index.add({ id, text: normalised, storedAtMs: 0, expiresAtMs: LONG_AFTER_MS }, vector)
  }
  return counts
}
