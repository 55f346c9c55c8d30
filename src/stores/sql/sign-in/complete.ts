import { type Kysely, sql } from 'kysely'
import type { SignedIn, SignInOutcome } from '../../../core/ports/sign-in.ts'
import { ensureAccount } from '../accounts/account.ts'
import { appendAudit } from '../accounts/audit.ts'
import { type Command, type Moment, Undo } from '../engine/command.ts'
import type { Database } from '../schema.ts'
import { claimFirstOperator } from './first-operator.ts'
import { followGroups } from './groups.ts'
import { openUserSession, replaceSessions } from './sessions.ts'

/** Stores what the identity provider states about a person, and opens a session. Nothing is stored for a suspended account. */
export const completeSignIn: Command<SignedIn, SignInOutcome> = async (db, person, now) => {
  const { accountId, session, previousHash, audit } = person
  await ensureAccount(db, accountId, now)
  const account = await db
    .selectFrom('account')
    .select('suspended_at_ms')
    .where('id', '=', accountId)
    .executeTakeFirstOrThrow()
  if (account.suspended_at_ms !== null) throw new Undo<SignInOutcome>('suspended')
  await putPerson(db, person, now)
  await followGroups(db, person, now)
  const replaced = { auditId: audit.id, actor: audit.actor }
  if (previousHash !== null) await replaceSessions(db, sql<boolean>`hash = ${previousHash}`, replaced, now)
  await openUserSession(db, { ...session, accountId, kind: 'browser', auditId: audit.id }, now)
  await appendAudit(db, audit, now)
  return (await claimFirstOperator(db, person, now)) ? 'first-operator' : 'signed-in'
}

async function putPerson(db: Kysely<Database>, { accountId, issuer, name, email, role }: SignedIn, now: Moment) {
  await db
    .updateTable('account')
    .set({ last_seen_at_ms: now, ...(name !== null && { name }), ...(email !== null && { email }) })
    .where('id', '=', accountId)
    .execute()
  const identity = { issuer, role, signed_in_at_ms: now }
  await db
    .insertInto('sign_in_identity')
    .values({ account_id: accountId, ...identity })
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet(identity))
    .execute()
}
