import { type Kysely, sql } from 'kysely'
import { GatewayError } from '../../../core/errors.ts'
import { type Places, statement } from '../engine/statement.ts'
import type { Database } from '../schema.ts'

/** What an account has, and what of it is held. */
export interface AccountCredits {
  readonly postedCredits: number
  readonly heldCredits: number
}

/** Locks an account for the transaction and gives what it has. Throws `internal_error` for an unknown one. */
export async function lockCredits(db: Kysely<Database>, accountId: string): Promise<AccountCredits> {
  return releaseCredits(db, accountId, 0)
}

/** Frees what was held, locks the account for the transaction and gives what it has. */
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

/** Holds credits if they are there. `undefined`: held; otherwise how many are free, with the account locked. */
export async function holdCredits(
  db: Kysely<Database>,
  accountId: string,
  credits: number,
): Promise<number | undefined> {
  if ((await addHeld(db, { accountId, credits })).length > 0) return undefined
  // A row that does not match is not locked: credits may come before the refusal is worded. Locked, it stays as it is.
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
