/** Kinds of alerts, in the order of the documentation; each channel chooses among them. */
export const ALERT_KINDS = ['cap', 'key', 'provider', 'spend', 'health'] as const

/** A kind of alert. */
export type AlertKind = (typeof ALERT_KINDS)[number]

/** `info`: an end, or an early notice. `warning`: look today. `critical`: requests fail or are refused, or money is at risk. */
export type AlertSeverity = 'info' | 'warning' | 'critical'

/** Details of an alert by their name; never prompts, replies or credentials. */
export type AlertDetails = Readonly<Record<string, string | number>>

/** A fact that an operator should know. */
export interface Alert {
  readonly kind: AlertKind
  /** The thing that it is about: a scope, a provider, an event of the log. */
  readonly subject: string
  readonly severity: AlertSeverity
  /** One sentence. */
  readonly title: string
  readonly details: AlertDetails
  /** Key: of alerts with the same, from any process, one is sent within `quietMs`. */
  readonly dedupeKey: string
  /** Default: forever. */
  readonly quietMs?: number | undefined
  /**
   * Dedupe key of the alert that this one ends: it is sent if that one was raised and has not ended, once, and the other may
   * be raised again.
   */
  readonly ends?: string | undefined
}

/** Raises an alert. Never throws and never waits. */
export type RaiseAlert = (alert: Alert) => void

/** An alert with its id, and the channels that get it. */
export interface RoutedAlert extends Alert {
  /** `alert_…`, the same in every delivery. */
  readonly id: string
  readonly channels: readonly string[]
}

/** An alert as it is sent. */
export type StoredAlert = Pick<Alert, 'kind' | 'subject' | 'severity' | 'title' | 'details'> & {
  readonly id: string
  readonly atMs: number
}

/** An alert to send now to one channel. */
export interface DueDelivery {
  readonly channel: string
  /** Tries, this one included. */
  readonly tries: number
  readonly alert: StoredAlert
}

/** Outcome of a try. */
export type DeliveryResult = { readonly alertId: string; readonly channel: string } & (
  | { readonly state: 'sent' }
  | { readonly state: 'failed'; readonly error: string }
  | { readonly state: 'due'; readonly error: string; readonly retryMs: number }
)

/** An alert and its deliveries, for lists. */
export interface ListedAlert extends StoredAlert {
  readonly deliveries: readonly ListedDelivery[]
}

/** State of a delivery. */
export interface ListedDelivery {
  readonly channel: string
  readonly state: DeliveryResult['state']
  readonly tries: number
  /** Reason of the last failure. */
  readonly error: string | null
  readonly sentAtMs: number | null
}

/** A cap of which a share is spent, and which has no alert of that share yet. */
export interface CrossedCap {
  readonly scope: string
  readonly window: string
  /** Percent. */
  readonly share: number
  readonly settledNanoUsd: number
  readonly limitNanoUsd: number
  /** Name of its key, team or person, where that has one. */
  readonly ownerName: string | null
}

/** A cap that has refused a request. */
export interface RefusedCap {
  readonly scope: string
  readonly window: string
  readonly limitNanoUsd: number
}

/** Selection of crossed caps. */
export interface CapQuery {
  readonly windows: readonly string[]
  /** Percent, ascending. */
  readonly shares: readonly number[]
  /** Counted as spent altogether, if at least 80 % of them is spent or held. */
  readonly refused: readonly RefusedCap[]
}

/** An audit entry that blocks a key or an account, without an alert yet. */
export interface BlockedAccess {
  readonly id: string
  readonly atMs: number
  readonly action: string
  readonly subject: string
  readonly actor: string
  readonly accountId: string
}

/**
 * Outbox of alerts in the database, which all processes share: what was raised is sent at least once, although the process
 * that raised it may end. Methods reject with `service_unavailable`.
 */
export interface AlertStore {
  /** Stores alerts and their deliveries, unless their dedupe key is quiet; returns those that it stored. */
  raise(alerts: readonly RoutedAlert[]): Promise<readonly string[]>
  /** Takes deliveries that are due; each is due again after `leaseMs`, unless `settle` is called. */
  take(order: { channels: readonly string[]; leaseMs: number; most: number }): Promise<readonly DueDelivery[]>
  /** Records outcomes of tries. */
  settle(results: readonly DeliveryResult[]): Promise<void>
  /** Lists the latest alerts, newest first. */
  list(page: { most: number }): Promise<readonly ListedAlert[]>
  /** Takes or renews a lease; resolves with false while another holder has it. */
  lease(lease: { name: string; holder: string; leaseMs: number }): Promise<boolean>
  crossedCaps(query: CapQuery): Promise<readonly CrossedCap[]>
  blockedAccess(query: { sinceMs: number; actions: readonly string[] }): Promise<readonly BlockedAccess[]>
  /** Deletes a batch of old alerts and marks; resolves with the number of rows. */
  prune(): Promise<number>
}

/** Dedupe key of a cap's alert; `crossedCaps` builds the same in SQL. */
export function capAlertKey({ share, scope, window }: Pick<CrossedCap, 'share' | 'scope' | 'window'>): string {
  return `cap:${share}:${scope}:${window}`
}

/** Dedupe key of the alert about an audit entry; likewise. */
export function blockedAlertKey(auditId: string): string {
  return `blocked:${auditId}`
}
