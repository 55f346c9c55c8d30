import type { ContentBlock, Message, RequestDocument } from 'turnpike/plugin'

/** Around text that clients put into a user's message, and that the user did not write. */
const REMINDER = { start: '<system-reminder>', end: '</system-reminder>' }

/** What a conversation is opened with: it stays the same for good. */
export interface Opening {
  readonly system: string
  /** What the first message says; empty when that is a picture, say, or a tool's result. */
  readonly text: string
}

/** A later message. */
export interface Turn {
  /** Whether the model says it: what it and later ones hold is new in the call that ends with them. */
  readonly isReply: boolean
  /** What the user says in it; empty when it is not the user's, or holds none. */
  readonly text: string
  /** Tools that the model calls in it, or that the client says it has called. */
  readonly calledTools: readonly string[]
}

/** Reads no message but the first. */
export function readOpening(request: RequestDocument): Opening {
  const system = textOf(request.field('system') as string | ContentBlock[] | null | undefined)
  return { system, text: request.shape.messages.length === 0 ? '' : userText(request.message(0)) }
}

/** Reads all messages but the first. */
export function readTurns(request: RequestDocument): Turn[] {
  const later = request.messages.slice(1)
  return later.map((message) => ({
    isReply: message.role === 'assistant',
    text: userText(message),
    calledTools: calledIn(message),
  }))
}

function calledIn({ content }: Message): string[] {
  if (typeof content === 'string') return []
  return content.flatMap((block) => (block.type === 'tool_use' ? [block.name] : []))
}

function userText({ role, content }: Message): string {
  return role === 'user' ? withoutReminders(textOf(content)).trim() : ''
}

/** Not by a regular expression: of many beginnings without an end each would search to the end. */
function withoutReminders(text: string): string {
  const parts: string[] = []
  let at = 0
  for (;;) {
    const start = text.indexOf(REMINDER.start, at)
    const end = start === -1 ? -1 : text.indexOf(REMINDER.end, start)
    if (end === -1) return parts.join('') + text.slice(at)
    parts.push(text.slice(at, start))
    at = end + REMINDER.end.length
  }
}

function textOf(content: string | readonly ContentBlock[] | null | undefined): string {
  if (typeof content === 'string') return content
  const texts = (content ?? []).map((block) => (block.type === 'text' ? block.text : ''))
  return texts.filter((text) => text !== '').join('\n')
}
