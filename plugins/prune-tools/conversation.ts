import type { ContentBlock, Message, RequestDocument } from 'turnpike/plugin'

/** Marks around text that clients add to a user's message. */
const REMINDER = { start: '<system-reminder>', end: '</system-reminder>' }

/** Opening of a conversation, which never changes. */
export interface Opening {
  readonly system: string
  /** Text of the first message; empty when it has only a picture or a tool's result. */
  readonly text: string
}

/** Later message. */
export interface Turn {
  /** Set for a message of the model: its tools are new in the call that ends with it. */
  readonly isReply: boolean
  /** Text of the user; empty for other roles, and without text. */
  readonly text: string
  /** Tools called in the message, by the model or according to the client. */
  readonly calledTools: readonly string[]
}

/** Reads the first message only. */
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

/** Removes reminders without a regular expression, for which unclosed beginnings would be quadratic. */
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
