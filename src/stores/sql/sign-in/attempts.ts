import type { SignInAttempt } from '../../../core/ports/sign-in.ts'
import type { Command, Moment } from '../engine/command.ts'
import { later } from '../engine/moments.ts'

/** Time for signing in at the provider. */
const ATTEMPT_MS = 10 * 60_000
/** Most pending attempts, and most pending requests of command lines: both are begun without a credential. */
const MOST_PENDING = 10_000

/** Deletes rows that have ended, and returns true while there is room for one more. */
export async function makeRoom(
  db: Parameters<Command<unknown, unknown>>[0],
  table: 'sign_in_attempt' | 'device_grant',
  now: Moment,
): Promise<boolean> {
  await db.deleteFrom(table).where('expires_at_ms', '<=', now).execute()
  const { count } = await db
    .selectFrom(table)
    .select((of) => of.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count) < MOST_PENDING
}

/** Stores an attempt; false when too many are pending. */
export const beginSignIn: Command<SignInAttempt, boolean> = async (db, attempt, now) => {
  if (!(await makeRoom(db, 'sign_in_attempt', now))) return false
  const { stateHash, browserHash, nonce, verifier, returnPath } = attempt
  await db
    .insertInto('sign_in_attempt')
    .values({
      state_hash: stateHash,
      browser_hash: browserHash,
      nonce,
      verifier,
      return_path: returnPath,
      expires_at_ms: later(now, ATTEMPT_MS),
    })
    .execute()
  return true
}

/**
 * Returns and deletes an attempt: an answer can be used once, by the browser that began it. An answer in another browser
 * deletes nothing.
 */
export const takeSignIn: Command<{ stateHash: string; browserHash: string }, SignInAttempt | undefined> = async (
  db,
  { stateHash, browserHash },
  now,
) => {
  const row = await db
    .deleteFrom('sign_in_attempt')
    .where('state_hash', '=', stateHash)
    .where('browser_hash', '=', browserHash)
    .where('expires_at_ms', '>', now)
    .returning(['nonce', 'verifier', 'return_path as returnPath'])
    .executeTakeFirst()
  return row && { stateHash, browserHash, ...row }
}
