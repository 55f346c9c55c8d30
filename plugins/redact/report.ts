import { type Exchange, GatewayError } from 'turnpike/plugin'
import type { Mode } from './options.ts'
import { TooMuchToSearch } from './patterns.ts'
import { type Redaction, type ScanFigures, TooManyValues } from './redaction.ts'

type ReceiptFigures = NonNullable<Parameters<Exchange['note']>[2]>

const OWN = 'own'

/** Returns the header: mode, values by kind, unread parts, a failed detector. */
export function headerOf(mode: Mode, { kinds, unread, hasDetectorFailed }: ScanFigures): string {
  const members = [
    `mode=${mode}`,
    ...printed(kinds),
    ...foreignOf(unread).map(([what, count]) => `unread-${what}=${count}`),
    ...(hasDetectorFailed ? ['detector=failed'] : []),
  ]
  return members.join('; ').toLowerCase()
}

/** Returns the figures for trace and receipt: `read` is `all`, or `part` where parts were not read, each with its reason. */
export function figuresOf(mode: Mode, { texts, characters, places, ...rest }: ScanFigures): ReceiptFigures {
  const { kinds, unread, hasDetectorFailed, isStopped } = rest
  const unreadParts = Object.entries(unread)
  return {
    mode,
    read: unreadParts.length > 0 || isStopped ? 'part' : 'all',
    texts,
    characters,
    places,
    ...kinds,
    ...Object.fromEntries(unreadParts.map(([what, count]) => [`unread_${what.toLowerCase()}`, count])),
    ...(isStopped && { unread_rest: 'too_large' }),
    ...(hasDetectorFailed && { detector: 'failed' }),
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

/** Runs work on the texts of a request. Throws `invalid_request` where they are more than it is bounded to. */
export function withinBounds(redaction: Redaction, work: () => void): void {
  try {
    work()
  } catch (error) {
    if (!(error instanceof TooManyValues || error instanceof TooMuchToSearch)) throw error
    redaction.isStopped = true
    throw new GatewayError('invalid_request', 'The request is too long, or holds too many values, to be redacted.', {
      detail: 'redact_too_large',
      cause: error,
    })
  }
}

function printed(counts: Readonly<Record<string, number>>): string[] {
  return Object.entries(counts).map(([name, count]) => `${name}=${count}`)
}

function foreignOf(unread: ScanFigures['unread']): [string, number][] {
  return Object.entries(unread).filter(([what]) => what !== OWN)
}
