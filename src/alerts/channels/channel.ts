import type { AlertKind, StoredAlert } from '../../core/ports/alerts.ts'

/** A destination of alerts. */
export interface AlertChannel {
  readonly name: string
  readonly kind: 'webhook' | 'slack' | 'email'
  /** Kinds of alerts that it gets. */
  readonly kinds: ReadonlySet<AlertKind>
  /** Sends an alert within ten seconds. Rejects with `DeliveryFault`. */
  send(alert: StoredAlert): Promise<void>
}

/** Failure of a delivery, in words that hold neither the address nor a credential. */
export class DeliveryFault extends Error {}

/** Longest delivery, in milliseconds. */
export const SEND_WITHIN_MS = 10_000
