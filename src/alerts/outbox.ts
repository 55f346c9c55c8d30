import { randomUUID } from 'node:crypto'
import { BufferedWriter } from '../core/buffered-writer.ts'
import { GatewayError, messageWithCause } from '../core/errors.ts'
import { startInterval } from '../core/interval.ts'
import type {
  Alert,
  AlertKind,
  AlertStore,
  DeliveryResult,
  DueDelivery,
  RaiseAlert,
  RoutedAlert,
} from '../core/ports/alerts.ts'
import type { Clock } from '../core/ports/clock.ts'
import type { Log } from '../core/ports/log.ts'
import { boundedAlert } from './bounded-alert.ts'
import { type AlertChannel, DeliveryFault } from './channels/channel.ts'

/**
 * DESIGN — from a fact to its channels
 *
 *   raise() ─► bounded queue ─► outbox in the database ─► a process takes due deliveries ─► channel
 *                                 │ the row of the dedupe key decides                         │
 *                                 └──────────────── again, after a growing pause ◄────────────┘
 *
 * Guarantees: `raise` never waits and never throws. An alert that is in the outbox is sent at least once to each of its
 * channels, by any process that has the channel: taking a delivery postpones it by a lease, so one whose process ended is
 * taken again. Repetitions have the same id. Of several processes that raise the same alert, one stores it.
 * Limits: 200 alerts wait for the database; a delivery is given up after `MOST_TRIES`, about a day. While the database is
 * down, critical alerts are sent once without it, and again when it has them.
 */
const MOST_WAITING = 200
const MOST_TRIES = 30
const LONGEST_PAUSE_MS = 3_600_000
/** Longer than any delivery. */
const LEASE_MS = 60_000
const TAKEN_AT_ONCE = 10
const MOST_ROUNDS = 20
const MOST_DIRECT = 200

const WRITING = {
  event: 'alerts.not-stored',
  mostAtOnce: 20,
  momentMs: 20,
  pauseMs: 1000,
  longestPauseMs: 60_000,
  warnEveryMs: 60_000,
  retriesAtEnd: false,
  mostWaiting: MOST_WAITING,
} as const

/** Input of `createOutbox`. */
export interface OutboxOptions {
  readonly store: AlertStore
  readonly channels: readonly AlertChannel[]
  /** Pause after the first failure of a delivery; each further failure doubles it, up to an hour. */
  readonly retryMs: number
  readonly clock: Clock
  readonly log: Log
  /** Counts what this process has stored and sent. */
  readonly count?: AlertCounts | undefined
}

/** Receives the outcomes of this process. */
export interface AlertCounts {
  raised(alert: Pick<Alert, 'kind' | 'severity'>): void
  delivered(channel: string, outcome: 'sent' | 'failed'): void
}

/** Outbox of alerts. */
export interface Outbox {
  readonly raise: RaiseAlert
  /** Sends what is due now. Never rejects. */
  sendDue(): Promise<void>
  /** Stores waiting alerts for at most `timeoutMs`, and stops sending. */
  close(timeoutMs: number): Promise<void>
}

/** Creates the outbox, and sends what is due until it is closed. */
export function createOutbox(options: OutboxOptions): Outbox {
  const { store, channels, retryMs, log, count } = options
  const sender = createSender(options)
  const onError = (error: unknown) => log.warn({ reason: messageWithCause(error) }, 'alerts.not-sent')
  const interval = startInterval(sender.sendDue, { everyMs: retryMs, onError })
  let isAsked = false
  const sendSoon = (): void => {
    isAsked = true
    // A run in flight may have looked already.
    void interval.run().then(() => isAsked && sendSoon())
  }
  const put = async (alerts: readonly RoutedAlert[]): Promise<void> => {
    const stored = new Set(await store.raise(alerts).catch((error: unknown) => sender.withoutStore(alerts, error)))
    for (const alert of alerts) if (stored.has(alert.id)) count?.raised(alert)
    if (stored.size > 0 && channels.length > 0) sendSoon()
  }
  const writer = new BufferedWriter<RoutedAlert>({ ...WRITING, log, put })
  const channelsOf = (kind: AlertKind) => channels.filter(({ kinds }) => kinds.has(kind)).map(({ name }) => name)
  return {
    raise(alert) {
      writer.add({ ...boundedAlert(alert), id: `alert_${randomUUID()}`, channels: channelsOf(alert.kind) })
    },
    sendDue: () => interval.run(),
    async close(timeoutMs) {
      await writer.close(timeoutMs)
      await interval.close()
    },
  }

  function createSender({ clock }: OutboxOptions) {
    const byName = new Map(channels.map((channel) => [channel.name, channel]))
    const direct = new Set<string>()
    const attempt = async ({ channel, tries, alert }: DueDelivery): Promise<DeliveryResult> => {
      const about = { alertId: alert.id, channel }
      try {
        await byName.get(channel)?.send(alert)
        count?.delivered(channel, 'sent')
        return { ...about, state: 'sent' }
      } catch (error) {
        const reason = reasonOf(error)
        count?.delivered(channel, 'failed')
        log.warn({ ...about, tries, reason }, 'alert.not-delivered')
        if (tries >= MOST_TRIES) return { ...about, state: 'failed', error: reason }
        return {
          ...about,
          state: 'due',
          error: reason,
          retryMs: Math.min(retryMs * 2 ** (tries - 1), LONGEST_PAUSE_MS),
        }
      }
    }
    return {
      async sendDue(signal: AbortSignal): Promise<void> {
        isAsked = false
        if (channels.length === 0) return
        for (let round = 0; round < MOST_ROUNDS && !signal.aborted; round++) {
          const order = { channels: [...byName.keys()], leaseMs: LEASE_MS, most: TAKEN_AT_ONCE }
          const due = await store.take(order)
          if (due.length === 0) return
          await store.settle(await Promise.all(due.map(attempt)))
        }
      },
      /** Sends critical alerts that the database does not take, each key once, and throws the database's error. */
      withoutStore(alerts: readonly RoutedAlert[], error: unknown): never {
        const isDown = error instanceof GatewayError && error.code === 'service_unavailable'
        for (const alert of alerts) {
          const { severity, dedupeKey } = alert
          if (!isDown || severity !== 'critical' || direct.has(dedupeKey) || direct.size >= MOST_DIRECT) continue
          direct.add(dedupeKey)
          const sent = { ...alert, atMs: clock.nowMs() }
          for (const channel of alert.channels) void attempt({ channel, tries: 1, alert: sent })
        }
        throw error
      },
    }
  }
}

/** Returns the reason of a failure; an unexpected error's message may hold an address. */
function reasonOf(error: unknown): string {
  return error instanceof DeliveryFault ? error.message : 'internal error'
}
