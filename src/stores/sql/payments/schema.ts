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
  /** The payment provider's name of it. */
  reference: string | null
  /** Who works on it. */
  owner: string
  /** Counts the owners. */
  fence: number
  /** Until then it is the owner's; 0: nobody's. */
  lease_until_ms: number
  /** When it ends unless it is captured before; `null` from then on. */
  due_at_ms: number | null
  captured_at_ms: number | null
  /** When it came to its last state. */
  ended_at_ms: number | null
  /** How often its client has left after the provider was asked. */
  left_calls: Generated<number>
}

/** Calls that were paid for at once. */
export interface AgentSessionTable {
  /** The id of the challenge that it was paid with. */
  id: string
  token_hash: string
  /** The payment provider's name of the payment. */
  reference: string
  calls_total: number
  /** Without those that are reserved. */
  calls_left: number
  expires_at_ms: number
  /** Calls that the client has left after the provider was asked. */
  left_calls: Generated<number>
}

/** A call of a session that is under way. */
export interface AgentSessionCallTable {
  id: string
  session_id: string
  lease_until_ms: number
}
