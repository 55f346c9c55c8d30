import type { Names } from '../../src/core/ports/names.ts'
import type { SignedReceipt } from '../../src/core/telemetry/receipt.ts'
import type { FinishedRequest } from '../../src/core/telemetry/telemetry.ts'
import type { KeptBody } from './parts/text.tsx'

/** Record of a request: the reply of `/dashboard/api/requests/:id`. */
export interface RequestDetail {
  readonly request: FinishedRequest
  readonly names: Names
  /** Receipt; `null` without one. */
  readonly receipt: {
    readonly receipt: SignedReceipt
    readonly isValid: boolean
    readonly checks: readonly { readonly name: string; readonly ok: boolean; readonly says: string }[]
  } | null
  /** Captured bodies; `null` when nothing was kept. */
  readonly capture: {
    readonly request: KeptBody
    readonly canonical: KeptBody | null
    readonly versions: readonly (KeptBody & { readonly module: string })[]
    readonly reply: KeptBody
  } | null
}
