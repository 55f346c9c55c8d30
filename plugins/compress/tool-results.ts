import type { ContentBlock, Message } from 'turnpike/plugin'

/** A text that a tool returned, and its place in its message. */
export interface ResultText {
  /** From the message to the text. */
  readonly path: readonly (string | number)[]
  readonly text: string
}

/** What a tool returned. */
export interface Result {
  readonly kind: 'result'
  readonly toolUseId: string
  readonly isError: boolean
  readonly texts: readonly ResultText[]
}

/** A call of a tool, as the assistant made it. */
export interface ToolCall {
  readonly kind: 'call'
  readonly id: string
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
  /** Its arguments that are texts of some length, a file's new content for example. */
  readonly given: readonly string[]
}

const LEAST_GIVEN = 160

/** The calls of tools and their results in a message, in its order. What was written is left out. */
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
