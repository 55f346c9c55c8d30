import type { KeyLimits } from '../ports/keys.ts'
import type { SharedLimits } from '../ports/people.ts'

/** Authenticated party behind a request. `scope` is the boundary of its cached replies, caps and receipts. */
export interface Caller {
  readonly kind: 'local' | 'key' | 'agent'
  readonly scope: string
  readonly keyId?: string
  readonly userId?: string
  readonly tier?: string
  /** Limits that the owner of its key has set, within the operator's. */
  readonly limits?: KeyLimits | undefined
  /** The team of its key. */
  readonly teamId?: string | undefined
  /** The tags of its key, sorted. */
  readonly tags?: readonly string[] | undefined
  /** Limits on all keys of its person together. */
  readonly personLimits?: SharedLimits | undefined
  /** Limits on all keys of its team together. */
  readonly teamLimits?: SharedLimits | undefined
  /** Limits of every tag that has any, at most 200. */
  readonly tagLimits?: Readonly<Record<string, SharedLimits>> | undefined
}

/** Returns the scope of a key's requests. */
export function scopeOfKey(id: string): string {
  return `key:${id}`
}
