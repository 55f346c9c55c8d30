import { setTimeout as sleep } from 'node:timers/promises'
import { bearer, sendAs, sessionToken } from '../support/accounts.ts'
import { type Reply, type SendOptions, send } from '../support/http-client.ts'
import { payForAnswer } from './agents.ts'
import { type Fixture, METRICS_TOKEN } from './fixture.ts'
import { nudge } from './plugins.ts'
import { type Chance, createChance } from './random.ts'
import { userName } from './traffic.ts'

/** Visitors besides the callers of models. */
export interface VisitorsOptions {
  readonly fixture: Fixture
  readonly users: number
  /** Length of the day, in milliseconds: each visitor comes so many times in it. */
  readonly dayMs: number
  readonly seed: number
  readonly signal: AbortSignal
}

/** Counter of answers to paying agents. */
export const PAID_ANSWERS = 'answers paid for by agents'

const TIMEOUT_MS = 60_000

/** Runs visits until the day ends; returns how often each was served. A refused visit is no failure. */
export async function runVisitors(options: VisitorsOptions): Promise<Record<string, number>> {
  const { fixture, dayMs, seed, signal } = options
  const chance = createChance(seed + 1)
  const counts: Record<string, number> = {}
  const come = async (name: string, times: number, visit: (url: string) => Promise<unknown>): Promise<void> => {
    counts[name] = 0
    for (;;) {
      await sleep(dayMs / times, undefined, { signal }).catch(() => {})
      if (signal.aborted) return
      const isServed = await visit(chance.pick(fixture.nodes).gateway.url).then(
        () => true,
        () => false,
      )
      if (isServed) counts[name]++
    }
  }
  const look = (path: string) => async (url: string) => {
    const user = userName(chance.below(options.users))
    assertServed(await sendAs(user, url, { method: 'GET', path, timeoutMs: TIMEOUT_MS }))
  }
  await Promise.all([
    come(PAID_ANSWERS, 200, (url) => payForAnswer(fixture, url)),
    come('scrapes', 100, (url) => scrape(url)),
    come('overviews', 100, look('/dashboard/api/overview')),
    come('exports', 50, look('/dashboard/api/requests.csv')),
    come('lists of keys', 50, look('/v1/keys')),
    come('pages watching live', 50, (url) => watchLive(url, { chance, longestMs: dayMs / 25, signal })),
    come('reloads of a plugin', 12, async () => {
      fixture.plugins.put('nudge/index.ts', nudge(counts['reloads of a plugin'] ?? 0))
    }),
  ])
  return counts
}

async function scrape(url: string): Promise<void> {
  const headers = bearer(METRICS_TOKEN)
  assertServed(await send(url, { method: 'GET', path: '/metrics', headers, timeoutMs: TIMEOUT_MS }))
}

function assertServed({ status, text }: Reply): void {
  if (status !== 200) throw new Error(`Expected to be served, got ${status} ${text}`)
}

/** Watches for a while, then closes the page. */
async function watchLive(
  url: string,
  { chance, longestMs, signal }: { chance: Chance; longestMs: number; signal: AbortSignal },
): Promise<void> {
  const leaves = AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(chance.next() * longestMs))])
  const headers = bearer(await sessionToken(userName(0)))
  const options: SendOptions = { method: 'GET', path: '/dashboard/api/live', headers, signal: leaves }
  await send(url, { ...options, timeoutMs: longestMs + TIMEOUT_MS })
}
