import type { AnswerLimit } from './answer-limit.ts'
import type { PreservedText } from './preserved.ts'
import type { RequestDocument } from './request.ts'

/** Is asked before an edit takes effect, with the module that makes it. Throws to refuse: the module has failed then. */
export type EditWatcher = (after: RequestDocument, module: string) => void

/** What modules have said of the request for those that come after them. */
export interface Annotations {
  readonly preserved?: readonly PreservedText[]
  readonly editWatchers?: readonly EditWatcher[]
  readonly answerLimit?: AnswerLimit
}
