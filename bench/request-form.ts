import type { Turn } from './conversation.ts'

/** What a request says besides its messages. */
export interface RequestHead {
  model: string
  stream: boolean
  hasTools: boolean
}

/** How a dialect puts a request. */
export interface RequestForm {
  /** Where its requests are posted. */
  path: string
  toRequest(head: RequestHead, messages: readonly object[]): object
  toMessages(turn: Turn): object[]
}
