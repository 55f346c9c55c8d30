import type { ContentBlock, Message } from 'turnpike/plugin'

/** A text that a tool gave back, and where it stands in its message. */
export interface ResultText {
  readonly kind: 'result'
  /** From the message to the text. */
  readonly path: readonly (string | number)[]
  readonly text: string
  readonly toolUseId: string
}

/** A text that compression reads and never changes: what a user wrote, what a tool was given. */
export interface OtherText {
  readonly kind: 'other'
  readonly label: string
  readonly text: string
}

/** A call of a tool, as the assistant made it. */
export interface ToolCall {
  readonly kind: 'call'
  readonly id: string
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
}

const LEAST_OTHER = 160

/** What is in a message, in its order. Text of the assistant and of the system is left out. */
export function partsOf({ role, content }: Message): (ResultText | OtherText | ToolCall)[] {
  if (typeof content === 'string') return role === 'user' ? ownText(content) : []
  return content.flatMap((block, index): (ResultText | OtherText | ToolCall)[] => {
    if (block.type === 'text') return role === 'user' ? ownText(block.text) : []
    if (block.type === 'tool_use') return callParts(block)
    return block.type === 'tool_result' ? resultTexts(block, ['content', index, 'content']) : []
  })
}

function ownText(text: string): OtherText[] {
  return text.length < LEAST_OTHER ? [] : [{ kind: 'other', label: 'user message', text }]
}

function callParts({ id, name, input }: ContentBlock & { type: 'tool_use' }): (OtherText | ToolCall)[] {
  const label = `input of ${name}`
  const texts = Object.values(input).filter((value) => typeof value === 'string' && value.length >= LEAST_OTHER)
  // Safe: the filter leaves strings only.
  const others = (texts as string[]).map((text): OtherText => ({ kind: 'other', label, text }))
  return [{ kind: 'call', id, name, input }, ...others]
}

function resultTexts(
  { tool_use_id, content }: ContentBlock & { type: 'tool_result' },
  path: readonly (string | number)[],
): ResultText[] {
  if (typeof content === 'string') return [{ kind: 'result', path, text: content, toolUseId: tool_use_id }]
  return (content ?? []).flatMap((part, index): ResultText[] =>
    part.type === 'text'
      ? [{ kind: 'result', path: [...path, index, 'text'], text: part.text, toolUseId: tool_use_id }]
      : [],
  )
}
