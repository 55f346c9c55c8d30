import type { ContentBlock, Message } from 'turnpike/plugin'

/** Text that a tool returned, and its path in the message. */
export interface ResultText {
  /** Path from the message to the text. */
  readonly path: readonly (string | number)[]
  readonly text: string
}

/** Result of a tool. */
export interface Result {
  readonly kind: 'result'
  readonly toolUseId: string
  readonly isError: boolean
  readonly texts: readonly ResultText[]
}

/** Tool call of the assistant. */
export interface ToolCall {
  readonly kind: 'call'
  readonly id: string
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
  /** Long text arguments, for example a file's new content. */
  readonly given: readonly string[]
}

const LEAST_GIVEN = 160

/** Returns the tool calls and results of a message, in order; other text is left out. */
export function partsOf({ content }: Message): (Result | ToolCall)[] {
  if (typeof content === 'string') return []
  return content.flatMap((block, index): (Result | ToolCall)[] => {
    if (block.type === 'tool_use') return [callOf(block)]
    return block.type === 'tool_result' ? [resultOf(block, ['content', index, 'content'])] : []
  })
}

function callOf({ id, name, input }: ContentBlock & { type: 'tool_use' }): ToolCall {
  const given = Object.values(input).filter((value) => typeof value === 'string' && value.length >= LEAST_GIVEN)
  // Safe: the filter leaves strings only.
  return { kind: 'call', id, name, input, given: given as string[] }
}

function resultOf(
  { tool_use_id: toolUseId, content, is_error }: ContentBlock & { type: 'tool_result' },
  path: readonly (string | number)[],
): Result {
  const texts =
    typeof content === 'string'
      ? [{ path, text: content }]
      : (content ?? []).flatMap((part, index): ResultText[] =>
          part.type === 'text' ? [{ path: [...path, index, 'text'], text: part.text }] : [],
        )
  return { kind: 'result', toolUseId, isError: is_error === true, texts }
}
