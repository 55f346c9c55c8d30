import { messageOfStream } from '../../core/reply/message-of-stream.ts'
import { scanEvents } from '../../core/reply/sse.ts'

/** Content of a reply, without members that differ from call to call: ids, times, usage, signatures. */
export interface Answer {
  /** Content as text that can be compared: any dialect, JSON or stream. */
  readonly comparable: string
  /** Text of the reply, or the whole reply where it has none. */
  readonly text: string
}

/** Members that are new in each reply. */
const NEW_EACH_TIME = new Set(['id', 'signature', 'tool_use_id', 'call_id', 'encrypted_content'])

/** Parses a model's reply; `undefined` when it cannot be parsed or is incomplete. */
export function answerOf(reply: string): Answer | undefined {
  const value = isStream(reply) ? readStream(reply) : parse(reply)
  if (value === undefined) return undefined
  const { content, stop_reason: stopReason, choices, output, incomplete_details: cut, error } = value
  if (error !== undefined && error !== null) return { comparable: print(error), text: textOf(error) }
  if (Array.isArray(content))
    return { comparable: print({ content, stopReason }), text: content.map(textOf).join('\n') }
  if (Array.isArray(output)) return { comparable: print({ output, cut }), text: output.map(textOfItem).join('\n') }
  if (!Array.isArray(choices)) return undefined
  const contents = choices.map(({ message, finish_reason: finishReason }) => ({ message, finishReason }))
  return { comparable: print(contents), text: contents.map(({ message }) => textOf(message)).join('\n') }
}

function isStream(reply: string): boolean {
  return /^(event|data|id|retry|:)/.test(reply)
}

/** Reply with the members that are read; each is treated as absent until checked. */
interface SomeReply {
  readonly content?: unknown
  readonly stop_reason?: unknown
  readonly choices?: readonly { readonly message?: unknown; readonly finish_reason?: unknown }[]
  readonly output?: unknown
  readonly incomplete_details?: unknown
  readonly error?: unknown
}

function parse(text: string): SomeReply | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

function readStream(reply: string): SomeReply | undefined {
  const bytes = Buffer.from(reply)
  const message = messageOfStream(bytes)
  if (message !== undefined) return parse(message.toString())
  return responseOfEvents(bytes) ?? messageOfChunks(bytes)
}

const RESPONSE_ENDS = new Set(['response.completed', 'response.incomplete', 'response.failed'])

/** Returns the response that ends a stream of Responses; `undefined` for any other stream. */
function responseOfEvents(bytes: Buffer): SomeReply | undefined {
  let response: SomeReply | undefined
  scanEvents(bytes, (name, source, start, end) => {
    if (RESPONSE_ENDS.has(name))
      response = (parse(source.toString('utf8', start, end)) as { response?: SomeReply } | undefined)?.response
  })
  return response
}

interface Chunk {
  readonly choices?: readonly {
    readonly index?: number
    readonly delta?: { readonly content?: string; readonly tool_calls?: readonly ToolCallPiece[] }
    readonly finish_reason?: string | null
  }[]
}

interface ToolCallPiece {
  readonly index?: number
  readonly function?: { readonly name?: string; readonly arguments?: string }
}

interface Choice {
  message: { content: string; tool_calls: { name: string; arguments: string }[] }
  finish_reason: string | null
}

/** Assembles a stream of chat chunks into the completion; `undefined` unless the stream is complete. */
function messageOfChunks(bytes: Buffer): SomeReply | undefined {
  const choices: Choice[] = []
  let isWhole = false
  scanEvents(bytes, (_, source, start, end) => {
    const data = source.toString('utf8', start, end)
    if (data.trim() === '[DONE]') isWhole = true
    else for (const piece of (parse(data) as Chunk | undefined)?.choices ?? []) addPiece(choices, piece)
  })
  return isWhole ? { choices } : undefined
}

function addPiece(
  choices: Choice[],
  { index = 0, delta, finish_reason: finish }: NonNullable<Chunk['choices']>[number],
) {
  choices[index] ??= { message: { content: '', tool_calls: [] }, finish_reason: null }
  const choice = choices[index]
  choice.message.content += delta?.content ?? ''
  choice.finish_reason = finish ?? choice.finish_reason
  for (const { index: at = 0, function: called } of delta?.tool_calls ?? []) {
    choice.message.tool_calls[at] ??= { name: '', arguments: '' }
    const call = choice.message.tool_calls[at]
    call.name += called?.name ?? ''
    call.arguments += called?.arguments ?? ''
  }
}

function print(value: unknown): string {
  return JSON.stringify(value, (name, member) => (NEW_EACH_TIME.has(name) ? undefined : member))
}

/** Returns the text of an item: that of its parts, if it has any. */
function textOfItem(item: unknown): string {
  const { content } = (item ?? {}) as { content?: unknown }
  return Array.isArray(content) ? content.map(textOf).join('\n') : textOf(item)
}

function textOf(part: unknown): string {
  // Safe: each member is checked before use.
  const { text, content, message } = (part ?? {}) as { text?: unknown; content?: unknown; message?: unknown }
  const found = [text, content, message].find((member) => typeof member === 'string' && member !== '')
  return typeof found === 'string' ? found : print(part ?? null)
}
