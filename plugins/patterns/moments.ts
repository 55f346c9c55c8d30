import { hash } from 'node:crypto'
import type { ContentBlock, Message, RequestDocument } from 'turnpike/plugin'

/** User message with text: where patterns are chosen and injected. */
export interface Moment {
  /** Index of the message in `messages`. */
  readonly index: number
  readonly text: string
  /** Identifies the conversation up to here by the user's content, which excludes later additions by the client. */
  readonly key: string
  /** True for the first moment of the conversation. */
  readonly isFirst: boolean
  /** True for the last moment: new in this call, or a retry. */
  readonly isLast: boolean
}

/** Matches text that coding agents add to the user's messages. */
const REMINDER = /<system-reminder>[\s\S]*?(?:<\/system-reminder>|$)/g

/** Returns the moments of a conversation within `scope`. */
export function momentsOf(request: RequestDocument, scope: string): Moment[] {
  const { messages } = request
  const moments: Moment[] = []
  // Coding agents add system messages around the user's.
  const [first, last] = [messages.findIndex(isTurn), messages.findLastIndex(isTurn)]
  let key = hash('sha256', `${scope}\0${systemText(request)}`, 'base64url')
  for (const [index, message] of messages.entries()) {
    const text = saidIn(message)
    if (text === undefined) continue
    key = hash('sha256', `${key}${index} ${text}`, 'base64url')
    moments.push({ index, text, key, isFirst: index === first, isLast: index === last })
  }
  return moments
}

function isTurn({ role }: Message): boolean {
  return role !== 'system'
}

/** Returns the user's text of a message; `undefined` for other roles and for messages with tool results only. */
function saidIn({ role, content }: Message): string | undefined {
  if (role !== 'user') return undefined
  if (typeof content === 'string') return withoutReminders(content)
  const own = content.filter((block) => block.type !== 'tool_result' && !isReminder(block))
  if (own.length === 0) return undefined
  return withoutReminders(textsOf(own).join('\n'))
}

function isReminder(block: ContentBlock): boolean {
  return block.type === 'text' && block.text.startsWith('<system-reminder>') && withoutReminders(block.text) === ''
}

function withoutReminders(text: string): string {
  return text.includes('<system-reminder>') ? text.replace(REMINDER, '').trim() : text
}

/** Returns the text of the `system` field. */
export function systemText(request: RequestDocument): string {
  const system = request.field('system') as string | ContentBlock[] | null | undefined // safe: checked by the schema
  return typeof system === 'string' ? system : textsOf(system ?? []).join('\n')
}

function textsOf(blocks: readonly ContentBlock[]): string[] {
  return blocks.flatMap((block) => (block.type === 'text' ? [block.text] : []))
}
