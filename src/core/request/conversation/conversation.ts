import { hash } from 'node:crypto'
import { printBase32 } from '../../base32.ts'

/** The conversation that a request belongs to, bound to its caller. */
export interface Conversation {
  /** `conv_` and 26 characters; the same in every process for the same caller and the same client's id. Never the client's own text. */
  readonly id: string
  /** Source of the id: the client's header or field, or the beginning of its messages. */
  readonly source: 'client' | 'prefix'
  /** The client, as far as its headers name it: `claude-code`, `codex`, `opencode`, `copilot`. */
  readonly client: string | undefined
  /** The conversation that started this one as a sub-agent. */
  readonly parentId: string | undefined
  /** The run: id of the topmost known conversation above this one, else its own id. */
  readonly rootId: string
  /** The sub-agent's kind or id as the client names it, at most 64 characters; unset for the main agent. */
  readonly agent: string | undefined
  /** Turn of this conversation from 1, as far as this process knows; decided when it is first read. */
  readonly turn: number
}

/** Pattern of a conversation's id. */
export const CONVERSATION_ID = /^conv_[0-9a-hjkmnp-tv-z]{26}$/

const ID_CHARACTERS = 26
const MOST_REMEMBERED = 1000
const LONGEST_REMEMBERED = 400
/** Ids of the latest conversations, by their parts: turns ask for the same ones again. */
const remembered = new Map<string, string>()

/** Returns the id of the conversation with these parts, the caller's scope first: equal parts, equal id. */
export function conversationId(...parts: readonly string[]): string {
  const text = JSON.stringify(parts)
  const known = remembered.get(text)
  if (known !== undefined) return known
  const digest = hash('sha256', text, 'buffer')
  const id = `conv_${printBase32(digest.subarray(0, 17)).slice(0, ID_CHARACTERS)}`
  if (remembered.size === MOST_REMEMBERED) remembered.clear()
  if (text.length <= LONGEST_REMEMBERED) remembered.set(text, id)
  return id
}
