import type { Alert, AlertSeverity, RaiseAlert } from '../../core/ports/alerts.ts'
import type { Log } from '../../core/ports/log.ts'

/** Meaning of an event of the log for operators. */
interface Trouble {
  readonly kind: 'health' | 'provider'
  readonly severity: AlertSeverity
  readonly title: string
}

const health = (severity: AlertSeverity, title: string): Trouble => ({ kind: 'health', severity, title })

/** Events about receipts, rows, money and the database that need an operator; all others stay in the log. */
export const TROUBLES: Readonly<Record<string, Trouble>> = {
  'receipts.not-stored': health('critical', 'Receipts are not stored in the signed ledger.'),
  'telemetry.not-stored': health('warning', 'Rows of requests are not stored: the dashboard lacks them.'),
  'journal.work-failed': health(
    'warning',
    'Work after replies failed: log lines, metrics or rows of requests may lack.',
  ),
  'telemetry.failed': health('warning', 'The database of telemetry cannot be opened.'),
  'store.failed': health('critical', 'A database does not answer.'),
  'store.file-lost': health('critical', 'The database file was moved or deleted while it is in use.'),
  'store.thread-failed': health('critical', 'The thread of the database failed.'),
  'store.thread-hangs': health('critical', 'The thread of the database hangs.'),
  'spend.settlements-wait': health('critical', 'Settlements of spend wait for the database.'),
  'spend.pool-not-flushed': health('warning', 'Spend of a reservation pool is not stored.'),
  'spend.holds-expired': health('warning', 'Holds of money were never settled, and count in full.'),
  'spend.sweep-failed': health('warning', 'Expired holds of money are not counted.'),
  'spend.unsettled': health('warning', 'The cost of a request was not settled.'),
  'spend.cost-unknown': health('warning', 'The cost of a request is not known, so its hold counts in full.'),
  'calls.end-refused': health('warning', 'A plan’s call could not be ended in the ledger of credits.'),
  'payment.captured-without-answer': health(
    'critical',
    'A payment was captured, and its answer did not reach the agent.',
  ),
  'payment.sweep-failed': health('warning', 'Payments are not reconciled with the provider of payments.'),
  'payment.reaping-failed': health('warning', 'Overdue payments are not ended.'),
  'payment.cancel-failed': health('warning', 'The hold of a payment could not be cancelled.'),
  'billing.round-failed': health('warning', 'A round of billing failed.'),
  'billing.event-failed': health('warning', 'An event of the billing provider was not processed.'),
  'meter.lost': health('critical', 'Reported usage was lost: it will not be billed.'),
  'meter.refused-by-provider': health('critical', 'The billing provider refused reported usage.'),
  'retention.failed': health('warning', 'Old rows are not deleted.'),
  'traces.not-sent': health('info', 'Traces are not sent to the collector.'),
  'provider_credential.missing': {
    kind: 'provider',
    severity: 'critical',
    title: 'The credential of a provider cannot be read.',
  },
  'provider_key.cooled-down': {
    kind: 'provider',
    severity: 'warning',
    title: 'A provider refused one of its keys, which rests.',
  },
}

/** Fields of these events that an alert repeats; no others. */
const SHOWN = ['reason', 'dropped', 'waiting', 'holds', 'provider', 'status', 'round', 'store', 'host'] as const

/** A log that is watched. */
export interface WatchedLog {
  readonly log: Log
  /** Sets the receiver of alerts: the log is older than the outbox. Events before that are in the log alone. */
  open(raise: RaiseAlert, quietMs: number): void
}

/** Returns a log that writes to another, and raises an alert for the events above. The same event is raised once in a while. */
export function watchLog(log: Log): WatchedLog {
  let raiseEvent = (_event: string, _fields: object): void => {}
  const watched = (inner: Log): Log => ({
    debug: (fields, event) => inner.debug(fields, event),
    info: (fields, event) => inner.info(fields, event),
    warn(fields, event) {
      inner.warn(fields, event)
      raiseEvent(event, fields)
    },
    error(fields, event) {
      inner.error(fields, event)
      raiseEvent(event, fields)
    },
    child: (bindings) => watched(inner.child(bindings)),
  })
  return {
    log: watched(log),
    open(raise, quietMs) {
      raiseEvent = (event, fields) => {
        const trouble = Object.hasOwn(TROUBLES, event) ? TROUBLES[event] : undefined
        if (trouble !== undefined) raise(alertOf(event, { trouble, fields, quietMs }))
      }
    },
  }
}

function alertOf(
  event: string,
  { trouble, fields, quietMs }: { trouble: Trouble; fields: object; quietMs: number },
): Alert {
  const details: Record<string, string | number> = { event }
  for (const name of SHOWN) {
    const value = (fields as Readonly<Record<string, unknown>>)[name]
    if (typeof value === 'string' || typeof value === 'number') details[name] = value
  }
  const { provider } = details
  const dedupeKey = provider === undefined ? `log:${event}` : `log:${event}:${provider}`
  return { ...trouble, subject: String(provider ?? event), details, dedupeKey, quietMs }
}
