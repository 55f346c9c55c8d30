import type { Turn } from './conversation.ts'

/** Content of a request besides its messages. */
export interface RequestHead {
  model: string
  stream: boolean
  hasTools: boolean
}

/** Form of requests in a dialect. */
export interface RequestForm {
  /** Path of the route. */
  path: string
  toRequest(head: RequestHead, messages: readonly object[]): object
  toMessages(turn: Turn): object[]
}
