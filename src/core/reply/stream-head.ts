import type { ReplyHeaders } from './reply.ts'
import type { ReplyDialect } from './reply-dialect.ts'

/** Facts of a streamed reply before it flows. */
export interface StreamHead {
  status: number
  headers: ReplyHeaders
  /** The source sends whole events and their ending, as a replay or another stream's copy does. */
  isWhole?: boolean
  /** The shape of the events. Default: Messages. */
  dialect?: ReplyDialect | undefined
}
