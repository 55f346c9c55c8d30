import type { Generated } from 'kysely'
import type { PaymentState, SettlementMode } from '../../../core/ports/payments.ts'
import { texts } from '../engine/columns.ts'

/** The tables of payments by agents. */
export interface PaymentTables {
  payment_window: PaymentWindowTable
  payment: PaymentTable
  agent_session: AgentSessionTable
  agent_session_call: AgentSessionCallTable
}

/** A minute in which an instance issued challenges. Challenges themselves are not stored: they are signed, and name it. */
export interface PaymentWindowTable {
  id: string
  opened_at_ms: number
}

/** A challenge for which a token was presented. */
export interface PaymentTable {
  /** The challenge's id. */
  id: string
  state: PaymentState
  token_hash: string
  amount_cents: number
  currency: string
  settlement: SettlementMode
  route: string
  model: string
  /** The payment provider's id of it. */
  reference: string | null
  /** The instance that works on it. */
  owner: string
  /** Number of owners so far. */
  fence: number
  /** End of the owner's lease; 0: no owner. */
  lease_until_ms: number
  /** Time at which it ends unless captured before; `null` from then on. */
  due_at_ms: number | null
  captured_at_ms: number | null
  /** Time of its last state. */
  ended_at_ms: number | null
  /** Number of client disconnects after the provider was called. */
  left_calls: Generated<number>
}

/** A prepaid session. */
export interface AgentSessionTable {
  /** The id of the paid challenge. */
  id: string
  token_hash: string
  /** The payment provider's id of the payment. */
  reference: string
  calls_total: number
  /** Without reserved calls. */
  calls_left: number
  expires_at_ms: number
  /** Number of client disconnects after the provider was called. */
  left_calls: Generated<number>
}

/** An in-flight call of a session. */
export interface AgentSessionCallTable {
  id: string
  session_id: string
  lease_until_ms: number
}

/** Creates the tables of payments. The database itself refuses rows whose money is missing or counted twice. */
export const PAYMENT_TABLES_SQL = `
create table payment_window (
  id text primary key not null,
  opened_at_ms bigint not null
);
create index payment_window_by_time on payment_window (opened_at_ms);
create table payment (
  id text primary key not null,
  state text not null check (state in ('claimed', 'authorized', 'captured', 'consumed', 'failed', 'expired')),
  amount_cents bigint not null check (amount_cents > 0),
  settlement text not null check (settlement in ('manual', 'automatic')),
  ${texts('token_hash', 'currency', 'route', 'model', 'owner')},
  reference text unique,
  fence bigint not null,
  lease_until_ms bigint not null,
  due_at_ms bigint,
  captured_at_ms bigint,
  ended_at_ms bigint,
  left_calls bigint default 0 not null,
  constraint payment_held_somewhere check (state not in ('authorized', 'captured', 'consumed') or reference is not null),
  constraint payment_captured_once check ((state in ('captured', 'consumed')) = (captured_at_ms is not null)),
  constraint payment_ended check ((state in ('consumed', 'failed', 'expired')) = (ended_at_ms is not null))
);
create index payment_due on payment (due_at_ms);
create index payment_by_capture on payment (captured_at_ms, id);
create index payment_by_end on payment (state, ended_at_ms);
-- for listing and summing all payments without a full scan: see books.ts
create index payment_by_time on payment (coalesce(captured_at_ms, ended_at_ms, due_at_ms), id);
create table agent_session (
  id text primary key not null,
  token_hash text not null unique,
  reference text not null,
  calls_total bigint not null check (calls_total > 0),
  calls_left bigint not null,
  expires_at_ms bigint not null,
  left_calls bigint default 0 not null,
  constraint agent_session_calls check (calls_left between 0 and calls_total)
);
create table agent_session_call (
  id text primary key not null,
  session_id text not null,
  lease_until_ms bigint not null
);
create index agent_session_call_due on agent_session_call (lease_until_ms);
`
