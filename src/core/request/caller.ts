import type { KeyLimits } from '../ports/keys.ts'

/** Authenticated party behind a request. `scope` is the boundary of its cached replies, caps and receipts. */
export interface Caller {
  readonly kind: 'local' | 'key' | 'agent'
  readonly scope: string
  readonly keyId?: string
  readonly userId?: string
  readonly tier?: string
  /** Limits that the owner of its key has set, within the operator's. */
  readonly limits?: KeyLimits | undefined
  /** Team of the key. */
  readonly teamId?: string
  /** Tags of the key, sorted. */
  readonly tags?: readonly string[]
  /** Limits of the person whose key it is. */
  readonly personLimits?: KeyLimits | undefined
  readonly teamLimits?: KeyLimits | undefined
  /** Limits of every tag that has any, at most 200. */
  readonly tagLimits?: Readonly<Record<string, KeyLimits>> | undefined
}
