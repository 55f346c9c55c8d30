import type { Alert } from '../../core/ports/alerts.ts'
import type { FinishedRequest } from '../../core/telemetry/telemetry.ts'

/**
 * DESIGN — providers that fail or are slow
 *
 * Each process counts its own calls in five buckets, of which a reading closes one. Beyond a share, an alert is raised at each
 * reading, and the outbox sends one of them in a while; when the share has fallen, its end is raised. Of several processes the
 * first to see a recovery reports it; one that still sees failures raises the alert again.
 */
const BUCKETS = 5
const MOST_PROVIDERS = 200
const MANY = 5
const FAILING = 0.2
const SOUND = 0.05
const SLOW = 0.5
const PROMPT = 0.2
const RATE_LIMITED = 429
const FIRST_FAULT = 500

interface Counts {
  calls: number
  failed: number
  replies: number
  slow: number
}

interface Watched {
  readonly buckets: Counts[]
  failing: boolean | undefined
  slow: boolean | undefined
}

/** Options of a `ProviderWatch`. */
export interface ProviderWatchOptions {
  /** A reply whose first byte takes longer is slow, in milliseconds. */
  readonly slowAfterMs: number
  /** An alert of the same provider is repeated after this time, in milliseconds. */
  readonly repeatMs: number
}

/** Watches the calls of this process to providers. */
export class ProviderWatch {
  readonly #options: ProviderWatchOptions
  readonly #providers = new Map<string, Watched>()

  constructor(options: ProviderWatchOptions) {
    this.#options = options
  }

  /** Counts the calls of a finished request. */
  note({ trace, provider, providerMs }: Pick<FinishedRequest, 'trace' | 'provider' | 'providerMs'>): void {
    for (const { provider, outcome, status } of trace.calls) {
      const counts = this.#countsOf(provider)
      if (counts === undefined) continue
      counts.calls++
      if (outcome === 'failed' || status === RATE_LIMITED || (status ?? 0) >= FIRST_FAULT) counts.failed++
    }
    const counts = provider === null || providerMs === null ? undefined : this.#countsOf(provider)
    if (counts === undefined) return
    counts.replies++
    if ((providerMs ?? 0) > this.#options.slowAfterMs) counts.slow++
  }

  /** Closes a bucket; returns the alerts of providers that fail or are slow, and of those that no longer do. */
  read(): Alert[] {
    const alerts: Alert[] = []
    for (const [name, watched] of this.#providers) {
      const sums = sumOf(watched.buckets)
      alerts.push(...this.#failing(name, watched, sums), ...this.#slow(name, watched, sums))
      watched.buckets.unshift(none())
      watched.buckets.length = Math.min(watched.buckets.length, BUCKETS)
    }
    return alerts
  }

  #failing(name: string, watched: Watched, { calls, failed }: Counts): Alert[] {
    const share = calls === 0 ? 0 : failed / calls
    const isNow = failed >= MANY && share >= FAILING ? true : calls > 0 && share < SOUND ? false : undefined
    const was = watched.failing
    watched.failing = isNow ?? was
    const title = `Provider ${name} fails: ${percent(share)} of its latest calls failed or were refused for their rate.`
    const details = { provider: name, calls, failed }
    if (isNow === true) return [this.#alert(name, { condition: 'failing', title, details })]
    return isNow === false && was !== false ? [ending(name, { condition: 'failing', details })] : []
  }

  #slow(name: string, watched: Watched, { replies, slow }: Counts): Alert[] {
    const share = replies === 0 ? 0 : slow / replies
    const isNow = slow >= MANY && share >= SLOW ? true : replies > 0 && share < PROMPT ? false : undefined
    const was = watched.slow
    watched.slow = isNow ?? was
    const seconds = this.#options.slowAfterMs / 1000
    const title = `Provider ${name} is slow: ${percent(share)} of its latest replies began after more than ${seconds} s.`
    const details = { provider: name, replies, slow }
    if (isNow === true) return [this.#alert(name, { condition: 'slow', title, details })]
    return isNow === false && was !== false ? [ending(name, { condition: 'slow', details })] : []
  }

  #alert(
    subject: string,
    { condition, title, details }: Pick<Alert, 'title' | 'details'> & { condition: Condition },
  ): Alert {
    const severity = condition === 'failing' ? 'critical' : 'warning'
    const quietMs = this.#options.repeatMs
    return { kind: 'provider', subject, severity, title, details, dedupeKey: keyOf(subject, condition), quietMs }
  }

  #countsOf(name: string): Counts | undefined {
    let watched = this.#providers.get(name)
    if (watched === undefined) {
      if (this.#providers.size >= MOST_PROVIDERS) return undefined
      watched = { buckets: [none()], failing: undefined, slow: undefined }
      this.#providers.set(name, watched)
    }
    return watched.buckets[0]
  }
}

type Condition = 'failing' | 'slow'

function ending(subject: string, { condition, details }: Pick<Alert, 'details'> & { condition: Condition }): Alert {
  const title =
    condition === 'failing' ? `Provider ${subject} answers again.` : `Provider ${subject} is no longer slow.`
  const ends = keyOf(subject, condition)
  return { kind: 'provider', subject, severity: 'info', title, details, dedupeKey: `${ends}:end`, ends }
}

function keyOf(provider: string, condition: Condition): string {
  return `provider:${provider}:${condition}`
}

function none(): Counts {
  return { calls: 0, failed: 0, replies: 0, slow: 0 }
}

function sumOf(buckets: readonly Counts[]): Counts {
  const sum = none()
  for (const { calls, failed, replies, slow } of buckets) {
    sum.calls += calls
    sum.failed += failed
    sum.replies += replies
    sum.slow += slow
  }
  return sum
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`
}
