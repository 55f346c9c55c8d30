import type { Series, Unit } from './verdict.ts'

/** Growth in a day that is no leak. */
interface Allowance {
  readonly share: number
  readonly amount: number
  /** For what nothing deletes within a day by design: for each request of the day. */
  readonly perRequest?: number
}

const MB = 2 ** 20

/** A tenth of the level, and the size of about a page. */
const BY_UNIT: Readonly<Record<Unit, Allowance>> = {
  bytes: { share: 0.1, amount: 8 * MB },
  count: { share: 0.1, amount: 5 },
  ms: { share: 0.25, amount: 5 },
}

/**
 * Tables that a day adds to: entries of the ledger and of the audit cannot be deleted, nor heads and nodes of the ledger of
 * receipts; revoked keys are still listed, and sums of hours, quarter hours and days are kept for 400 days. They must not grow faster than
 * their causes: one entry a charged call, at most one head a receipt; one request in fifty makes a key, and one in a hundred is an agent that pays, with its own sums in each window and for each model.
 */
const BY_NAME: readonly (readonly [pattern: RegExp, allowance: Allowance])[] = [
  [/^rows of (ledger_entry|receipt_head|receipt_node)$/, { share: 0, amount: 5, perRequest: 1 }],
  [/^rows of (api_key|audit_entry|spend_window|usage_hour|usage_slice)$/, { share: 0, amount: 300, perRequest: 0.1 }],
  [/^rows of (payment|payment_window|agent_session)/, { share: 0, amount: 300 }],
  [/^rows of /, { share: 0.15, amount: 300 }],
  [/^bytes of (turnpike\.db|ledger_entry|receipt_head)$/, { share: 0.1, amount: 4 * MB, perRequest: 800 }],
  [/^bytes of /, { share: 0.15, amount: 4 * MB }],
  [/^upstream connections/, { share: 0.5, amount: 10 }],
  [/^open files|^handles/, { share: 0.25, amount: 20 }],
]

/** Returns the growth that is allowed for a series of this name in a day of so many requests. */
export function mayGrow(name: string, unit: Unit, requests: number): Series['mayGrow'] {
  const [, allowance = BY_UNIT[unit]] = BY_NAME.find(([pattern]) => pattern.test(name)) ?? []
  const { share, amount, perRequest = 0 } = allowance
  return { share, amount: amount + perRequest * requests }
}
