import { type Kysely, sql } from 'kysely'
import { GatewayError } from '../../../core/errors.ts'
import { type Places, statement } from '../engine/statement.ts'
import type { Database } from '../schema.ts'

/** An account's credits, and the held part of them. */
export interface AccountCredits {
  readonly postedCredits: number
  readonly heldCredits: number
}

/** Locks an account for the transaction and returns its credits. Throws `internal_error` for an unknown one. */
export async function lockCredits(db: Kysely<Database>, accountId: string): Promise<AccountCredits> {
  return releaseCredits(db, accountId, 0)
}

/** Releases held credits, locks the account for the transaction and returns its credits. */
export async function releaseCredits(
  db: Kysely<Database>,
  accountId: string,
  credits: number,
): Promise<AccountCredits> {
  const [row] = await subtractHeld(db, { accountId, credits })
  if (row === undefined) throw new GatewayError('internal_error', `The account ${accountId} is unknown.`)
  return { postedCredits: row.posted_credits, heldCredits: row.held_credits }
}

const subtractHeld = statement(['accountId', 'credits'], (db, given: Places<{ accountId: string; credits: number }>) =>
  db
    .updateTable('account')
    .set((of) => ({ held_credits: of('held_credits', '-', given.credits) }))
    .where('id', '=', given.accountId)
    .returning(['posted_credits', 'held_credits']),
)

/** Holds credits if available. `undefined`: held; otherwise the number of free ones, with the account locked. */
export async function holdCredits(
  db: Kysely<Database>,
  accountId: string,
  credits: number,
): Promise<number | undefined> {
  if ((await addHeld(db, { accountId, credits })).length > 0) return undefined
  // A row that does not match is not locked: credits may arrive before the refusal is composed. Locked, it is stable.
  const { postedCredits, heldCredits } = await lockCredits(db, accountId)
  const isRefused = (await addHeld(db, { accountId, credits })).length === 0
  return isRefused ? postedCredits - heldCredits : undefined
}

const addHeld = statement(['accountId', 'credits'], (db, given: Places<{ accountId: string; credits: number }>) =>
  db
    .updateTable('account')
    .set((of) => ({ held_credits: of('held_credits', '+', given.credits) }))
    .where('id', '=', given.accountId)
    .where(sql<boolean>`posted_credits - held_credits >= ${given.credits}`)
    .returning('id'),
)
