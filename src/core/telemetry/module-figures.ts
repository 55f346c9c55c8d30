import type { CacheOutcome, RequestTrace } from './telemetry.ts'

/** Work of one plugin in a sample of requests. */
export interface ModuleFigures {
  readonly module: string
  /** Requests that it ran in. */
  readonly runs: number
  /** Runs by what the plugin did: `hit`, `miss`, `idle`, `ran`, …; at most 20. */
  readonly actions: Readonly<Record<string, number>>
  /** Time in the plugin itself, summed. */
  readonly ms: number
  /** Bytes that its edits removed from requests; below zero when they added some. */
  readonly bytesRemoved: number
  /** Its share of what the requests saved: of an answer from its cache all, of edited requests by its edits' size. */
  readonly savedNanoUsd: number
}

/** Figures of plugins in the newest requests of a period. */
export interface ModuleSample {
  /** Requests in the sample. */
  readonly requests: number
  /** Start of its oldest request, in milliseconds since 1970; `null` without one. */
  readonly sinceMs: number | null
  /** By name. */
  readonly modules: readonly ModuleFigures[]
}

/** Request of a sample. */
export interface SampledRequest {
  readonly trace: RequestTrace
  readonly cache: CacheOutcome
  /** Unknown costs count as no saving. */
  readonly savedNanoUsd: number
}

const MOST_ACTIONS = 20
const FROM_CACHE: ReadonlySet<string> = new Set(['hit', 'attached'])

type Counting = { -readonly [Name in keyof ModuleFigures]: ModuleFigures[Name] } & { actions: Record<string, number> }

/** Sums up plugins over requests. */
export function moduleFigures(requests: Iterable<SampledRequest>): ModuleFigures[] {
  const byModule = new Map<string, Counting>()
  const figuresOf = (module: string) => {
    const known = byModule.get(module) ?? { module, runs: 0, actions: {}, ms: 0, bytesRemoved: 0, savedNanoUsd: 0 }
    byModule.set(module, known)
    return known
  }
  for (const request of requests) {
    for (const { module, action, ms } of request.trace.steps) {
      const figures = figuresOf(module)
      figures.runs++
      figures.ms += ms
      if (action in figures.actions || Object.keys(figures.actions).length < MOST_ACTIONS)
        figures.actions[action] = (figures.actions[action] ?? 0) + 1
    }
    for (const { module, bytesBefore, bytesAfter } of request.trace.edits)
      figuresOf(module).bytesRemoved += bytesBefore - bytesAfter
    for (const { module, share } of sharesOf(request))
      figuresOf(module).savedNanoUsd += Math.round(request.savedNanoUsd * share)
  }
  return [...byModule.values()].toSorted((one, other) => (one.module < other.module ? -1 : 1))
}

/** Returns the plugins that a request's saving is due to, with shares that add up to 1; none where no plugin did anything. */
function sharesOf({ trace, cache }: SampledRequest): { module: string; share: number }[] {
  if (FROM_CACHE.has(cache)) {
    const answered = trace.steps.find(({ action }) => FROM_CACHE.has(action))
    return answered === undefined ? [] : [{ module: answered.module, share: 1 }]
  }
  // A mark of a prompt cache adds a few bytes, and so counts a little beside a shortened text.
  const sizes = trace.edits.map(({ bytesBefore, bytesAfter }) => Math.max(1, Math.abs(bytesBefore - bytesAfter)))
  const total = sizes.reduce((sum, size) => sum + size, 0)
  return trace.edits.map(({ module }, index) => ({ module, share: (sizes[index] ?? 0) / total }))
}
