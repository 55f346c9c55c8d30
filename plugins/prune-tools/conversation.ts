import type { ContentBlock, Message, RequestDocument } from 'turnpike/plugin'

/** Text that clients put into a user's message, and that the user did not write. */
const REMINDER = /<system-reminder>[\s\S]*?<\/system-reminder>/g

/** What a conversation is opened with: it stays the same for good. */
export interface Opening {
  readonly system: string
  /** What the first message says; empty when that is a picture, say, or a tool's result. */
  readonly text: string
}

/** What came after it. */
export interface Sequel {
  /** What the user said later, in order. */
  readonly texts: readonly string[]
  /** Tools that the model has called, or that the client says it has. */
  readonly calledTools: ReadonlySet<string>
}

/** Reads no message but the first. */
export function readOpening(request: RequestDocument): Opening {
  const system = textOf(request.field('system') as string | ContentBlock[] | null | undefined)
  const [first] = messagesOf(request)
  return { system, text: first === undefined ? '' : userText(first) }
}

/** Reads all messages. */
export function readSequel(request: RequestDocument): Sequel {
  const [, ...later] = messagesOf(request)
  const calledTools = new Set<string>()
  for (const { content } of later) {
    if (typeof content === 'string') continue
    for (const block of content) if (block.type === 'tool_use') calledTools.add(block.name)
  }
  return { texts: later.map(userText).filter((text) => text !== ''), calledTools }
}

/** One at a time: of a long conversation the first is often all that is needed. */
function* messagesOf({ bytes, shape }: RequestDocument): Iterable<Message> {
  // The request was checked against the schema when it was taken in.
  for (const { start, end } of shape.messages) yield JSON.parse(bytes.toString('utf8', start, end)) as Message
}

function userText({ role, content }: Message): string {
  return role === 'user' ? textOf(content).replace(REMINDER, '').trim() : ''
}

function textOf(content: string | readonly ContentBlock[] | null | undefined): string {
  if (typeof content === 'string') return content
  const texts = (content ?? []).map((block) => (block.type === 'text' ? block.text : ''))
  return texts.filter((text) => text !== '').join('\n')
}
