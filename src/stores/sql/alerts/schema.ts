import type { AlertKind, AlertSeverity, DeliveryResult } from '../../../core/ports/alerts.ts'

/** The outbox of alerts. */
export interface AlertTables {
  alert: AlertTable
  alert_delivery: AlertDeliveryTable
  alert_mark: AlertMarkTable
  alert_lease: AlertLeaseTable
}

/** An alert that was raised. */
export interface AlertTable {
  id: string
  at_ms: number
  kind: AlertKind
  severity: AlertSeverity
  subject: string
  title: string
  /** JSON of `AlertDetails`. */
  details: string
}

/** An alert for one channel. */
export interface AlertDeliveryTable {
  alert_id: string
  channel: string
  state: DeliveryResult['state']
  tries: number
  /** The moment of the next try; while one is in flight, the moment from which another process may repeat it. */
  due_at_ms: number
  /** Reason of the last failure. */
  error: string | null
  sent_at_ms: number | null
}

/** A dedupe key that is quiet; its row decides which of several processes raises an alert. */
export interface AlertMarkTable {
  dedupe_key: string
  repeats_at_ms: number
}

/** Work that one process does at a time. */
export interface AlertLeaseTable {
  name: string
  holder: string
  until_ms: number
}
