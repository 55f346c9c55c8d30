import type { Message } from 'turnpike/plugin'
import type { Path } from 'turnpike/plugin/bytes'

/** Text of a user or of a tool, with its path in the request. */
export interface RequestText {
  readonly path: Path
  readonly text: string
}

/** Returns all texts of users and tools. */
export function textsOf(messages: readonly Message[]): RequestText[] {
  return messages.flatMap(({ role, content }, message) => {
    if (role !== 'user') return []
    return textsIn(content, ['messages', message, 'content'])
  })
}

function textsIn(content: Message['content'] | null | undefined, path: Path): RequestText[] {
  if (typeof content === 'string') return [{ path, text: content }]
  return (content ?? []).flatMap((block, index) => {
    if (block.type === 'text') return [{ path: [...path, index, 'text'], text: block.text }]
    return block.type === 'tool_result' ? textsIn(block.content, [...path, index, 'content']) : []
  })
}
