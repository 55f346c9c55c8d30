import type { ExchangeState } from '../exchange-state.ts'
import type { Conversation } from './conversation.ts'
import { Conversations } from './conversations.ts'

/** Returns the conversation of a request, and recognises it once. */
export function conversationOf(state: ExchangeState): Conversation {
  if (state.conversation !== undefined) return state.conversation
  const { caller, headers, client, conversations = new Conversations() } = state
  state.conversation = conversations.enter({ caller, headers, document: client.document })
  return state.conversation
}
