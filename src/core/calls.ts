import type { Plans, Tier } from './plans.ts'

/** Calls that are to be held for an account. Plain data. */
export interface CallOrder {
  /** The idempotency key: the same again renews the lease and holds nothing twice. */
  readonly holdId: string
  readonly accountId: string
  /** All of them at one price, or none. */
  readonly calls: number
  readonly plans: Plans
  /** How long they are held; then they are free again. */
  readonly leaseMs: number
}

/** Why calls are not held. */
export type CallRefusal =
  | {
      readonly reason: 'calls'
      readonly tier: Tier
      readonly includedCalls: number
      /** When there are calls again, in milliseconds since 1970. */
      readonly resetsAtMs: number | undefined
    }
  | { readonly reason: 'credits'; readonly tier: Tier; readonly neededCredits: number; readonly freeCredits: number }

/** Calls that are held, and what each of them costs; or why they are not. */
export type CallReservation =
  | { readonly ok: true; readonly callCredits: number }
  | { readonly ok: false; readonly refused: CallRefusal }
