import { tryParseJson } from '../../core/json/json-value.ts'
import { messageOfStream } from '../../core/reply/message-of-stream.ts'
import { scanEvents } from '../../core/reply/sse.ts'
import { createMessagesEvents } from '../../dialects/chat/reply/to-messages-events.ts'
import { toMessagesReply } from '../../dialects/chat/reply/to-messages-reply.ts'

/** Content of a reply, without members that differ from call to call: ids, times, usage, signatures. */
export interface Answer {
  /** Content as text that can be compared: any dialect, JSON or stream. */
  readonly comparable: string
  /** Text of the reply, or the whole reply where it has none. */
  readonly text: string
}

/** Members that are new in each reply. */
const NEW_EACH_TIME = new Set(['id', 'signature', 'tool_use_id', 'call_id', 'encrypted_content'])

/** Parses a model's reply; `undefined` when it cannot be parsed or is incomplete. Of a stream of chat completions the first choice counts. */
export function answerOf(reply: string): Answer | undefined {
  const bytes = Buffer.from(reply)
  const value = isStream(reply) ? (responseOfEvents(bytes) ?? parse(messageOfEvents(bytes))) : parse(bytes)
  if (value === undefined) return undefined
  const { content, stop_reason: stopReason, choices, output, incomplete_details: cut, error } = value
  if (error !== undefined && error !== null) return { comparable: print(error), text: textOf(error) }
  if (Array.isArray(content))
    return { comparable: print({ content, stopReason }), text: content.map(textOf).join('\n') }
  if (Array.isArray(output)) return { comparable: print({ output, cut }), text: output.map(textOfItem).join('\n') }
  return Array.isArray(choices) ? answerOfChoices(value, choices) : undefined
}

/** Returns the content of all choices of a completion, each read as a message of its own; `undefined` unless all can be read. */
function answerOfChoices(completion: object, choices: readonly unknown[]): Answer | undefined {
  const answers = choices.map((choice) => {
    const message = toMessagesReply(Buffer.from(JSON.stringify({ ...completion, choices: [choice] })), NAMELESS)
    return message && answerOf(message.toString())
  })
  const [first] = answers
  if (answers.length === 1) return first
  const read = answers.filter((answer) => answer !== undefined)
  if (read.length < answers.length || read.length === 0) return undefined
  return {
    comparable: read.map(({ comparable }) => comparable).join('\n'),
    text: read.map(({ text }) => text).join('\n'),
  }
}

function isStream(reply: string): boolean {
  return /^(event|data|id|retry|:)/.test(reply)
}

/** Model and id of a reply that has none. */
const NAMELESS = { model: '', id: '' }

/** Reply with the members that are read; each is treated as absent until checked. */
interface SomeReply {
  readonly content?: unknown
  readonly stop_reason?: unknown
  readonly choices?: unknown
  readonly output?: unknown
  readonly incomplete_details?: unknown
  readonly error?: unknown
}

function parse(bytes: Buffer | undefined): SomeReply | undefined {
  const value = bytes && tryParseJson(bytes)
  return typeof value === 'object' && value !== null ? value : undefined
}

const RESPONSE_ENDS = new Set(['response.completed', 'response.incomplete', 'response.failed'])

/** Returns the response that ends a stream of Responses; `undefined` for any other stream. */
function responseOfEvents(stream: Buffer): SomeReply | undefined {
  let response: SomeReply | undefined
  scanEvents(stream, (name, source, start, end) => {
    if (RESPONSE_ENDS.has(name))
      response = (parse(source.subarray(start, end)) as { response?: SomeReply } | undefined)?.response
  })
  return response
}

/** Returns the message of a stream of Messages or chat chunks; `undefined` unless the stream is complete. */
function messageOfEvents(stream: Buffer): Buffer | undefined {
  const message = messageOfStream(stream)
  if (message !== undefined) return message
  const translator = createMessagesEvents(NAMELESS)
  let events = ''
  scanEvents(stream, (name, source, start, end) => {
    events += translator.event(name, source.toString('utf8', start, end))
  })
  return messageOfStream(Buffer.from(events))
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
