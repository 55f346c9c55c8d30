import type { Alert } from '../core/ports/alerts.ts'
import { hideSecrets } from '../core/secrets.ts'

const LONGEST_TITLE = 300
const LONGEST_TEXT = 300
const LONGEST_KEY = 300
const MOST_DETAILS = 16
/** Line ends would begin a header of an e-mail; the others hide text. */
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g

/** Returns an alert within its bounds: one line each, no credentials, at most 16 details of 300 characters. */
export function boundedAlert(alert: Alert): Alert {
  const details = Object.entries(alert.details)
    .slice(0, MOST_DETAILS)
    .map(([name, value]) => [name, typeof value === 'number' ? value : line(value, LONGEST_TEXT)] as const)
  return {
    ...alert,
    title: line(alert.title, LONGEST_TITLE),
    subject: line(alert.subject, LONGEST_TEXT),
    dedupeKey: alert.dedupeKey.slice(0, LONGEST_KEY),
    details: Object.fromEntries(details),
  }
}

function line(text: string, longest: number): string {
  const clean = hideSecrets(text.slice(0, longest * 2)).replaceAll(CONTROL, ' ')
  return clean.length > longest ? `${clean.slice(0, longest - 1)}…` : clean
}
