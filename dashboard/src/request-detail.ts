import type { SignedReceipt } from '../../src/core/telemetry/receipt.ts'
import type { FinishedRequest } from '../../src/core/telemetry/telemetry.ts'
import type { KeptBody } from './parts/text.tsx'

/** All that is known of a request: the answer of `/dashboard/api/requests/:id`. */
export interface RequestDetail {
  readonly request: FinishedRequest
  /** `null`: it has none. */
  readonly receipt: {
    readonly receipt: SignedReceipt
    readonly isValid: boolean
    readonly checks: readonly { readonly name: string; readonly ok: boolean; readonly says: string }[]
  } | null
  /** `null`: nothing was kept. */
  readonly capture: {
    readonly request: KeptBody
    readonly canonical: KeptBody | null
    readonly versions: readonly (KeptBody & { readonly module: string })[]
    readonly reply: KeptBody
  } | null
}
