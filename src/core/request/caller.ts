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
}
