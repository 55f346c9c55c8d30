import type { AnswerLimit } from './answer-limit.ts'
import type { PreservedText } from './preserved.ts'
import type { RequestDocument } from './request.ts'

/** Called before an edit takes effect, with the plugin that makes it. Throws to refuse: the plugin has failed then. */
export type EditWatcher = (after: RequestDocument, module: string) => void

/** Notes of plugins on the request, for the plugins after them. */
export interface Annotations {
  readonly preserved?: readonly PreservedText[]
  readonly editWatchers?: readonly EditWatcher[]
  readonly answerLimit?: AnswerLimit
}
