import { messageOfStream, type StoredReply } from 'turnpike/plugin'

/** The text of a stored answer; `undefined` when it is anything but text: a tool's use, or a shape that is not known. */
export function answerTextOf({ kind, dialect, body }: StoredReply): string | undefined {
  try {
    if (dialect === 'chat') return kind === 'json' ? textOfChat(JSON.parse(body.toString())) : textOfChunks(body)
    const json = kind === 'json' ? body : messageOfStream(body)
    return json && textOfMessage(JSON.parse(json.toString()))
  } catch {
    return undefined
  }
}

/** The text of a message in the Messages shape, if text is all there is. */
export function textOfMessage(message: { content?: unknown } | null): string | undefined {
  const content = message?.content
  if (!Array.isArray(content) || content.length === 0) return undefined
  const blocks: { type?: unknown; text?: unknown }[] = content
  // What a model thought is not part of what it says.
  const said = blocks.filter(({ type }) => type !== 'thinking' && type !== 'redacted_thinking')
  return said.every(({ type, text }) => type === 'text' && typeof text === 'string')
    ? said.map(({ text }) => text).join('')
    : undefined
}

interface ChatReply {
  choices?: {
    message?: { content?: unknown; tool_calls?: unknown }
    delta?: { content?: unknown; tool_calls?: unknown }
  }[]
}

function textOfChat({ choices }: ChatReply): string | undefined {
  const [first, ...others] = choices ?? []
  const content = first?.message?.content
  return others.length === 0 && first?.message?.tool_calls === undefined && typeof content === 'string'
    ? content
    : undefined
}

const DATA = /^data: ?(\{.*)$/gm

function textOfChunks(body: Buffer): string | undefined {
  let text = ''
  for (const [, json = ''] of body.toString().matchAll(DATA)) {
    const chunk: ChatReply = JSON.parse(json)
    const [first, ...others] = chunk.choices ?? []
    if (others.length > 0 || first?.delta?.tool_calls !== undefined) return undefined
    if (typeof first?.delta?.content === 'string') text += first.delta.content
  }
  return text === '' ? undefined : text
}
