import type { LossReason } from '../../core/telemetry/prefix-loss.ts'
import { LOOK_BACK, lifetimeOf, MOST_MARKS, needsMarks } from './cache-rules.ts'
import type { SentTurn } from './turn.ts'

/** A cause outside the text of the prompt. */
interface Named {
  readonly reason: LossReason
  readonly detail: string
}

const MINUTE_MS = 60_000
const MINUTES_PER_HOUR = 60
const MOST_NAMES = 4
const LONGEST_BETA = 50

/** Returns that the entry had expired, when the pause was longer than its lifetime. */
export function expiry(before: SentTurn, turn: SentTurn): Named | undefined {
  const pauseMs = turn.sentAtMs - before.sentAtMs
  const { ms, isExact } = lifetimeOf(before)
  if (pauseMs <= ms) return undefined
  const verb = isExact ? 'had expired' : 'may have expired'
  return { reason: 'expired', detail: `first request after ${spanOf(pauseMs)}: the cache ${verb} (${spanOf(ms)})` }
}

function spanOf(ms: number): string {
  const minutes = Math.floor(ms / MINUTE_MS)
  if (minutes < 1) return `${Math.floor(ms / 1000)} s`
  if (minutes < MINUTES_PER_HOUR) return `${minutes} min`
  const [hours, rest] = [Math.floor(minutes / MINUTES_PER_HOUR), minutes % MINUTES_PER_HOUR]
  return rest === 0 ? `${hours} h` : `${hours} h ${rest} min`
}

/** Returns the betas that were added and removed. */
export function changeOfBetas({ betas: was }: SentTurn, { betas: is }: SentTurn): Named | undefined {
  const added = is.filter((name) => !was.includes(name))
  const removed = was.filter((name) => !is.includes(name))
  if (added.length + removed.length === 0) return undefined
  const list = (names: readonly string[], verb: string) =>
    names.length === 0
      ? []
      : [
          `${verb} ${names
            .slice(0, MOST_NAMES)
            .map((name) => name.slice(0, LONGEST_BETA))
            .join(', ')}`,
        ]
  const detail = `anthropic-beta changed: ${[...list(added, 'added'), ...list(removed, 'removed')].join('; ')}`
  return { reason: 'beta', detail: detail.toWellFormed() }
}

/** Returns the settings that changed, of those that belong to the prompt. */
export function changeOfSettings({ sent: was }: SentTurn, { sent: is }: SentTurn): Named | undefined {
  const names = new Set([...was.settings.keys(), ...is.settings.keys()])
  const changed = [...names].filter((name) => was.settings.get(name) !== is.settings.get(name))
  return changed.length === 0 ? undefined : { reason: 'settings', detail: `${changed.join(' and ')} changed` }
}

/** Returns why the marks do not reach the entry of the turn before. */
export function changeOfMarks(before: SentTurn, turn: SentTurn): Named | undefined {
  if (!needsMarks(turn)) return undefined
  const last = Math.max(-1, ...before.sent.marks.map(({ block }) => block))
  const { marks } = turn.sent
  if (last < 0) return undefined
  if (marks.length === 0) return { reason: 'marks', detail: 'no block has `cache_control` any more' }
  if (marks.length > MOST_MARKS)
    return { reason: 'marks', detail: `${marks.length} marks: the provider takes at most ${MOST_MARKS}` }
  const distances = marks.map(({ block }) => block - last)
  const nearest = Math.min(...distances.filter((distance) => distance >= 0))
  if (nearest === Number.POSITIVE_INFINITY)
    return { reason: 'marks', detail: `the last mark moved back by ${-Math.max(...distances)} blocks` }
  if (nearest <= LOOK_BACK) return undefined
  const detail = `a mark is ${nearest} blocks behind that of the turn before: the provider looks back ${LOOK_BACK} blocks`
  return { reason: 'marks', detail }
}
