import type { KeyLimits } from '../ports/keys.ts'

/** Who asks. `scope` is the tenancy that every cache and counter is bound to. */
export interface Caller {
  readonly kind: 'local' | 'key' | 'agent'
  readonly scope: string
  readonly keyId?: string
  readonly userId?: string
  readonly tier?: string
  /** What the owner of its key has set, within what the operator allows. */
  readonly limits?: KeyLimits | undefined
}
