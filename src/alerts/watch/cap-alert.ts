import { shortUsd } from '../../core/money/usd.ts'
import { type Alert, type AlertSeverity, type CrossedCap, capAlertKey } from '../../core/ports/alerts.ts'

const DAY_MS = 86_400_000
const ALL = 100
const MOST = 75
const DIGEST_SHOWN = 8

/** Builds the alert about a cap of which a share is spent. */
export function capAlert(cap: CrossedCap): Alert {
  const { scope, window, share, settledNanoUsd, limitNanoUsd, ownerName } = cap
  const { words, endsAt } = periodOf(window)
  const [spent, limit] = [shortUsd(settledNanoUsd), shortUsd(limitNanoUsd)]
  const name = nameOf(scope, ownerName)
  const title =
    share >= ALL
      ? `${name} reached the cap of ${words}: ${spent} of ${limit} is spent. Requests that exceed it are refused until ${endsAt}.`
      : `${name} spent ${share} % of the cap of ${words}: ${spent} of ${limit}.`
  return {
    kind: 'cap',
    subject: scope,
    severity: severityOf(share),
    title,
    details: { share: `${share} %`, spent, limit, window, resets: endsAt },
    dedupeKey: capAlertKey(cap),
  }
}

function severityOf(share: number): AlertSeverity {
  return share >= ALL ? 'critical' : share >= MOST ? 'warning' : 'info'
}

const OWNERS: Readonly<Record<string, string>> = { 'key:key': 'Key', user: 'Person', team: 'Team', tag: 'Tag' }

/** Names the owner of a cap. A local client's scope is a digest of its credential. */
function nameOf(scope: string, name: string | null): string {
  if (scope === 'instance') return 'All keys together'
  const [, kind = '', id = ''] = /^(key:key|key:local|user|team|tag):(.*)$/s.exec(scope) ?? []
  if (kind === 'key:local') return `Local client ${id.slice(0, DIGEST_SHOWN)}`
  const owner = OWNERS[kind]
  if (owner === undefined) return scope
  return name === null ? `${owner} ${id}` : `${owner} “${name}” (${id})`
}

/** Returns a window's period in words, and the moment of its end. */
function periodOf(window: string): { words: string; endsAt: string } {
  const date = window.slice(2)
  if (window.startsWith('d:')) return { words: `the day (${date})`, endsAt: iso(Date.parse(date) + DAY_MS) }
  const [year = 0, month = 0] = date.split('-').map(Number)
  return { words: `the month (${date})`, endsAt: iso(Date.UTC(year, month)) }
}

function iso(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}
