import type { Kysely } from 'kysely'
import { GatewayError } from '../../../core/errors.ts'
import type { Command, Moment } from '../engine/command.ts'
import { type Places, statement } from '../engine/statement.ts'
import type { Database } from '../schema.ts'
import { lockCredits } from './account-credits.ts'

/** A new entry of an account's ledger. */
export interface NewEntry {
  readonly accountId: string
  /** A noun: `grant`, `recharge`, `refund`. */
  readonly kind: string
  /** Positive: granted. Negative: taken. Not 0. */
  readonly credits: number
  /** The business id of the entry, e.g. `invoice:in_1`: it makes the entry idempotent. */
  readonly idem: string
  readonly now: Moment
  /** Handling of a take beyond the free credits. Default: `clip`, which takes as many as are available. */
  readonly beyond?: 'clip' | 'refuse'
}

/** Outcome of an entry. */
export type EntryOutcome = 'appended' | 'replayed' | 'refused'

/**
 * Records credits that are granted or taken; for commands, whose transaction it joins. `refused`: a take of which nothing,
 * or with `beyond: 'refuse'` not all, is available; that is not recorded. Throws `internal_error` for an unknown account.
 */
export async function appendEntry(
  db: Kysely<Database>,
  { accountId, kind, credits, idem, now, beyond = 'clip' }: NewEntry,
): Promise<EntryOutcome> {
  if (!Number.isSafeInteger(credits) || credits === 0)
    throw new GatewayError('internal_error', `Expected a whole number of credits other than 0, got ${credits}.`)
  // From here on no other transaction appends to this account, so reads stay valid.
  const { postedCredits, heldCredits } = await lockCredits(db, accountId)
  const [known] = await findEntry(db, { accountId, idem })
  if (known !== undefined) return 'replayed'
  const entered = Math.max(credits, heldCredits - postedCredits)
  if (entered === 0 || (entered !== credits && beyond === 'refuse')) return 'refused'
  await enter(db, { accountId, kind, credits: entered, idem }, now)
  return 'appended'
}

/** Moves credits as far as they are available; returns the number moved, with its sign. */
export async function moveAvailable(db: Kysely<Database>, entry: NewEntry): Promise<number> {
  if ((await appendEntry(db, entry)) === 'refused') return 0
  const [entered] = await findEntry(db, entry)
  return entered?.credits ?? 0
}

/** Appends an entry as a command of its own: credits that an operator grants or takes. */
export const appendToLedger: Command<Omit<NewEntry, 'now'>, EntryOutcome> = (db, entry, now) =>
  appendEntry(db, { ...entry, now })

/** Changes an account's credits and records it. The caller has checked that they suffice. */
export async function enter(
  db: Kysely<Database>,
  { accountId, kind, credits, idem }: Pick<NewEntry, 'accountId' | 'kind' | 'credits' | 'idem'>,
  now: Moment,
): Promise<void> {
  const [account] = await addCredits(db, { accountId, credits })
  if (account === undefined) throw new GatewayError('internal_error', `The account ${accountId} is unknown.`)
  const { entry_seq: seq, posted_credits: postedAfter } = account
  await insertEntry(db, { accountId, seq, kind, credits, postedAfter, idem }, now)
}

const findEntry = statement(['accountId', 'idem'], (db, given: Places<{ accountId: string; idem: string }>) =>
  db
    .selectFrom('ledger_entry')
    .select(['seq', 'credits'])
    .where('account_id', '=', given.accountId)
    .where('idem', '=', given.idem),
)

const addCredits = statement(['accountId', 'credits'], (db, given: Places<{ accountId: string; credits: number }>) =>
  db
    .updateTable('account')
    .set((of) => ({
      posted_credits: of('posted_credits', '+', given.credits),
      entry_seq: of('entry_seq', '+', 1),
    }))
    .where('id', '=', given.accountId)
    .returning(['entry_seq', 'posted_credits']),
)

interface Row {
  readonly accountId: string
  readonly seq: number
  readonly kind: string
  readonly credits: number
  readonly postedAfter: number
  readonly idem: string
}

const insertEntry = statement(
  ['accountId', 'seq', 'kind', 'credits', 'postedAfter', 'idem'],
  (db, given: Places<{ [Name in keyof Row]: Row[Name] }>, now) =>
    db.insertInto('ledger_entry').values({
      account_id: given.accountId,
      seq: given.seq,
      kind: given.kind,
      credits: given.credits,
      posted_after_credits: given.postedAfter,
      idem: given.idem,
      created_at_ms: now,
    }),
)
