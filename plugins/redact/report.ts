import { GatewayError } from 'turnpike/plugin'
import type { Mode } from './options.ts'
import type { ScanFigures } from './redaction.ts'

const OWN = 'own'

/** Returns the header: mode, values by kind, unread parts. */
export function headerOf(mode: Mode, { kinds, unread }: ScanFigures): string {
  const members = [
    `mode=${mode}`,
    ...printed(kinds),
    ...foreignOf(unread).map(([what, count]) => `unread-${what}=${count}`),
  ]
  return members.join('; ').toLowerCase()
}

/** Returns what the trace has. */
export function detailsOf({ texts, characters, kinds, places, unread }: ScanFigures): Record<string, unknown> {
  return {
    texts,
    characters,
    ...kinds,
    places,
    ...Object.fromEntries(Object.entries(unread).map(([what, count]) => [`unread_${what}`, count])),
  }
}

/** Tests for parts that may hold anything. */
export function hasUnread({ unread }: ScanFigures): boolean {
  return foreignOf(unread).length > 0
}

/** Refusal of a request with values, in mode `block`. */
export function blockedError({ kinds }: ScanFigures): GatewayError {
  return new GatewayError(
    'invalid_request',
    `The request holds values that may not leave: ${printed(kinds).join(', ')}. Remove them.`,
    { detail: 'redact_blocked', headers: { 'x-should-retry': 'false' } },
  )
}

/** Refusal of a request with parts that cannot be read. */
export function unreadError({ unread }: ScanFigures): GatewayError {
  const parts = foreignOf(unread).map(([what, count]) => `${count} × ${what}`)
  return new GatewayError(
    'invalid_request',
    `The request holds parts that cannot be searched for secrets: ${parts.join(', ')}. Send their text instead.`,
    { detail: 'redact_unreadable', headers: { 'x-should-retry': 'false' } },
  )
}

function printed(counts: Readonly<Record<string, number>>): string[] {
  return Object.entries(counts).map(([name, count]) => `${name}=${count}`)
}

function foreignOf(unread: ScanFigures['unread']): [string, number][] {
  return Object.entries(unread).filter(([what]) => what !== OWN)
}
