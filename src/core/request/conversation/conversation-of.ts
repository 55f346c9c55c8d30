import type { ExchangeState } from '../exchange-state.ts'
import type { Conversation } from './conversation.ts'
import { Conversations } from './conversations.ts'

/** Returns the conversation of a request, and recognises it once. */
export function conversationOf(state: ExchangeState): Conversation {
  if (state.conversation !== undefined) return state.conversation
  const { caller, headers, stored, conversations = new Conversations() } = state
  const { document } = state.received ?? state.client
  const continued = stored.conversation
  state.conversation = conversations.enter({ caller, headers, document, continued })
  return state.conversation
}
