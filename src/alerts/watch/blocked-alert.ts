import { type Alert, type BlockedAccess, blockedAlertKey } from '../../core/ports/alerts.ts'
import type { NameQuery, Names } from '../../core/ports/names.ts'
import { keyInWords, personInWords } from './in-words.ts'

/** Actions of the audit log that block keys and accounts, in words. */
const BLOCKED: Readonly<Record<string, string>> = {
  'key.revoked': 'was revoked',
  'key.suspended': 'was suspended',
  'account.suspended': 'was suspended',
}

const USER = 'user:'

/** The actions that are alerts. */
export const BLOCKING_ACTIONS: readonly string[] = Object.keys(BLOCKED)

/** Returns the ids whose names the alerts about these entries show. */
export function idsOfBlocked(entries: readonly BlockedAccess[]): NameQuery['ids'] {
  const actors = entries.flatMap(({ actor }) => (actor.startsWith(USER) ? [actor.slice(USER.length)] : []))
  return {
    key: entries.flatMap(({ action, subject }) => (action.startsWith('key.') ? [subject] : [])),
    person: [...entries.map(({ accountId }) => accountId), ...actors],
    team: [],
  }
}

/** Builds the alert about a key or an account that was blocked. */
export function blockedAlert({ id, atMs, action, subject, actor, accountId }: BlockedAccess, names: Names): Alert {
  const what = action.startsWith('key.')
    ? keyInWords(names, { keyId: subject, userId: accountId })
    : `Account ${personInWords(names, subject)}`
  const by = actor.startsWith(USER) ? personInWords(names, actor.slice(USER.length)) : actor
  return {
    kind: 'key',
    subject,
    severity: actor === `${USER}${accountId}` ? 'info' : 'warning',
    title: `${what} ${BLOCKED[action] ?? 'was blocked'} by ${by}: its requests are refused.`,
    details: { action, account: accountId, actor, at: new Date(atMs).toISOString() },
    dedupeKey: blockedAlertKey(id),
  }
}
