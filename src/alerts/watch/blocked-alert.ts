import { type Alert, type BlockedAccess, blockedAlertKey } from '../../core/ports/alerts.ts'

/** Actions of the audit log that block keys and accounts, in words. */
const BLOCKED: Readonly<Record<string, string>> = {
  'key.revoked': 'was revoked',
  'key.suspended': 'was suspended',
  'account.suspended': 'was suspended',
}

/** The actions that are alerts. */
export const BLOCKING_ACTIONS: readonly string[] = Object.keys(BLOCKED)

/** Builds the alert about a key or an account that was blocked. */
export function blockedAlert({ id, atMs, action, subject, actor, accountId }: BlockedAccess): Alert {
  const what = action.startsWith('key.') ? `Key ${subject}` : `Account ${subject}`
  return {
    kind: 'key',
    subject,
    severity: actor === `user:${accountId}` ? 'info' : 'warning',
    title: `${what} ${BLOCKED[action] ?? 'was blocked'} by ${actor}: its requests are refused.`,
    details: { action, account: accountId, actor, at: new Date(atMs).toISOString() },
    dedupeKey: blockedAlertKey(id),
  }
}
