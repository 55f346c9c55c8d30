import { hash } from 'node:crypto'
import type { ContentBlock, Message, RequestDocument } from 'turnpike/plugin'

/** A message in which the user says something: the place at which patterns are chosen, and where their text stands. */
export interface Moment {
  /** Of the message, in `messages`. */
  readonly index: number
  readonly text: string
  /** Identifies the conversation up to here by what the user has said: not what the caller may add to it later. */
  readonly key: string
  /** Whether the conversation begins with it. */
  readonly isFirst: boolean
  /** Whether nothing comes behind it: it is new in this call, or asked again. */
  readonly isLast: boolean
}

/** What coding agents put into the user's messages is not said by the user. */
const REMINDER = /<system-reminder>[\s\S]*?(?:<\/system-reminder>|$)/g

/** The moments of a conversation. `scope` is whose conversation it is. */
export function momentsOf(request: RequestDocument, scope: string): Moment[] {
  const { messages } = request
  const moments: Moment[] = []
  // Coding agents put the system's turns around the user's.
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

/** What the user says in a message; `undefined` when it is not the user's or only carries results of tools. */
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

/** The text of the `system` field. */
export function systemText(request: RequestDocument): string {
  const system = request.field('system') as string | ContentBlock[] | null | undefined // safe: checked by the schema
  return typeof system === 'string' ? system : textsOf(system ?? []).join('\n')
}

function textsOf(blocks: readonly ContentBlock[]): string[] {
  return blocks.flatMap((block) => (block.type === 'text' ? [block.text] : []))
}
