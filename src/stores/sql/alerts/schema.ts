import type { AlertKind, AlertSeverity, DeliveryResult } from '../../../core/ports/alerts.ts'
import { counts, texts } from '../engine/columns.ts'

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

/** Creates the tables of alerts. */
export const ALERT_TABLES_SQL = `
create table alert (
  id text primary key not null,
  ${texts('kind', 'severity', 'subject', 'title', 'details')},
  ${counts('at_ms')}
);
create index alert_by_time on alert (at_ms, id);
create table alert_delivery (
  ${texts('alert_id', 'channel')},
  state text not null check (state in ('due', 'sent', 'failed')),
  ${counts('tries', 'due_at_ms')},
  error text,
  sent_at_ms bigint,
  constraint alert_delivery_key primary key (alert_id, channel)
);
create index alert_delivery_due on alert_delivery (due_at_ms) where state = 'due';
create table alert_mark (
  dedupe_key text primary key not null,
  ${counts('repeats_at_ms')}
);
create index alert_mark_by_end on alert_mark (repeats_at_ms);
create table alert_lease (
  name text primary key not null,
  holder text not null,
  ${counts('until_ms')}
);
`
