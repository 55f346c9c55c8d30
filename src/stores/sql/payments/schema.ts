import type { Generated } from 'kysely'
import type { PaymentState, SettlementMode } from '../../../core/ports/payments.ts'

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
