import { canonicalOf } from './canonical/canonical.ts'
import { literalReasonOf } from './eligibility.ts'
import { normaliseText } from './normalise.ts'

/** What a text is looked up by. */
export interface Form {
  /** The text but for white space. */
  readonly normalised: string
  /** One for all texts that may share an answer. */
  readonly form: string
  /** Why only the very same text has this form, if so. */
  readonly literalReason: string | undefined
}

/** The form of a text of at most `maxWords`; a longer one has a form of its own. */
export function formOf(text: string, { maxWords }: { readonly maxWords: number }): Form {
  const normalised = normaliseText(text)
  const literalReason = literalReasonOf(text, { maxWords })
  return { normalised, literalReason, form: literalReason === undefined ? canonicalOf(normalised) : normalised }
}
