import { type Kysely, sql } from 'kysely'
import {
  type ClaimOutcome,
  type ClaimRefusal,
  FREE_LEFT_CALLS,
  type OpenPaymentState,
  type PaymentClaim,
} from '../../../core/ports/payments.ts'
import type { Command, Moment } from '../engine/command.ts'
import type { Database } from '../schema.ts'
import type { PaymentTable } from './schema.ts'

/**
 * DESIGN — payments
 *
 *   (signed, window known) ──claim──► claimed ──► authorized ──► captured ──► consumed
 *                                        │  └────────────────────────▲
 *                                        │             │    charged at once
 *                                        ├─────────────┴── refused ──► failed
 *                                        └── overdue ────────────────► expired
 *
 * A challenge is not stored when it is issued: it is signed, and names a window, a row that each instance creates once a
 * minute. So a probe costs no write, no table grows with probes, and a challenge whose window the database does not
 * know (it was lost, or restored from a backup) is refused. Its first claim creates the row.
 *
 * Each step is one statement that compares and sets: the owner, the fence that counts owners, the state before. An owner
 * has a lease; when that has ended, a client with the same token can resume it.
 */

/** Time after the challenge's end in which a reply may still come, and a payer may retry. */
const GRACE_MS = 60_000
/** Maximum number of owners of a payment before it is captured; each may call a provider at a cost. */
const MOST_OWNERS = 8

/** Claims a challenge for a token: creates the payment, or resumes it. */
export const claimPayment: Command<PaymentClaim, ClaimOutcome> = async (db, claim, now) => {
  const isIssued = await isOfWindow(db, claim, now)
  if (isIssued && (await createPayment(db, claim, now)))
    return held(claim, { fence: 1, state: 'claimed', settlement: claim.settlement, reference: null })
  const resumed = await resumePayment(db, claim, now)
  if (resumed !== undefined) return held(claim, resumed)
  const row = await db
    .selectFrom('payment')
    .select(['state', 'token_hash', 'left_calls'])
    .where('id', '=', claim.challengeId)
    .executeTakeFirst()
  if (row === undefined) return refused(isIssued || (await isKnownWindow(db, claim)) ? 'expired' : 'unknown')
  if (row.token_hash !== claim.tokenHash) return refused('other-token')
  if (row.state === 'consumed' || row.state === 'failed' || row.state === 'expired') return refused(row.state)
  // Delivered from the client's point of view: it may be about to be captured.
  return row.left_calls > FREE_LEFT_CALLS ? refused('consumed') : { kind: 'busy' }
}

/** Checks the window. Windows are never changed, and are kept far longer than their challenges: reading one first is safe. */
async function isOfWindow(
  db: Kysely<Database>,
  { windowId, expiresAtMs }: PaymentClaim,
  now: Moment,
): Promise<boolean> {
  const row = await db
    .selectFrom('payment_window')
    .select('id')
    .where('id', '=', windowId)
    .where(sql<boolean>`${now} < ${expiresAtMs}`)
    .executeTakeFirst()
  return row !== undefined
}

async function isKnownWindow(db: Kysely<Database>, { windowId }: PaymentClaim): Promise<boolean> {
  const row = await db.selectFrom('payment_window').select('id').where('id', '=', windowId).executeTakeFirst()
  return row !== undefined
}

async function createPayment(db: Kysely<Database>, claim: PaymentClaim, now: Moment): Promise<boolean> {
  const { challengeId, expiresAtMs, tokenHash, amountCents, currency, settlement, route, model, owner, leaseMs } = claim
  const created = await db
    .insertInto('payment')
    .values({
      id: challengeId,
      state: 'claimed',
      token_hash: tokenHash,
      amount_cents: amountCents,
      currency,
      settlement,
      route,
      model,
      reference: null,
      owner,
      fence: 1,
      lease_until_ms: sql`${now} + ${leaseMs}`,
      due_at_ms: expiresAtMs + GRACE_MS,
      captured_at_ms: null,
      ended_at_ms: null,
    })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning('id')
    .executeTakeFirst()
  return created !== undefined
}

type Resumed = Pick<PaymentTable, 'fence' | 'settlement' | 'reference'> & { state: OpenPaymentState }

/** Resumes a payment. A captured one can be resumed without end: the money is taken, and the reply owed. */
async function resumePayment(db: Kysely<Database>, claim: PaymentClaim, now: Moment): Promise<Resumed | undefined> {
  const row = await db
    .updateTable('payment')
    .set((of) => ({
      owner: claim.owner,
      fence: of('fence', '+', 1),
      lease_until_ms: sql`${now} + ${claim.leaseMs}`,
    }))
    .where('id', '=', claim.challengeId)
    .where('token_hash', '=', claim.tokenHash)
    .where('left_calls', '<=', FREE_LEFT_CALLS)
    .where('lease_until_ms', '<=', now)
    .where((is) =>
      is.or([
        is('state', '=', 'captured'),
        is.and([
          is('state', 'in', ['claimed', 'authorized']),
          is('due_at_ms', '>', now),
          is('fence', '<', MOST_OWNERS),
        ]),
      ]),
    )
    .returning(['fence', 'state', 'settlement', 'reference'])
    .executeTakeFirst()
  // The cast is safe: the statement checks the state.
  return row as Resumed | undefined
}

function held({ challengeId, owner }: PaymentClaim, { reference, ...resumed }: Resumed): ClaimOutcome {
  return { kind: 'held', payment: { challengeId, owner, ...resumed, reference: reference ?? undefined } }
}

function refused(why: ClaimRefusal): ClaimOutcome {
  return { kind: 'refused', why }
}
