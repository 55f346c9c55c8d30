import { canonicalOf } from './canonical/canonical.ts'
import { literalReasonOf } from './eligibility.ts'
import { normaliseText } from './normalise.ts'

/** Forms of a text for look-ups. */
export interface Form {
  /** Text with normalised white space. */
  readonly normalised: string
  /** Common form of all texts that may share an answer. */
  readonly form: string
  /** Reason why only the identical text has this form, if any. */
  readonly literalReason: string | undefined
}

/** Returns the form of a text of at most `maxWords`; a longer one is its own form. */
export function formOf(text: string, { maxWords }: { readonly maxWords: number }): Form {
  const normalised = normaliseText(text)
  const literalReason = literalReasonOf(text, { maxWords })
  return { normalised, literalReason, form: literalReason === undefined ? canonicalOf(normalised) : normalised }
}
