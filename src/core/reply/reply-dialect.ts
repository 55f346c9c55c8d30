import { isObject, tryParseJson } from '../json/json-value.ts'
import type { Child } from '../json/scan.ts'
import type { RequestDocument } from '../request/request.ts'
import type { EventTranslator } from './event-translator.ts'
import { createMessagesPartReader, partsOfMessage, textAt } from './messages-parts.ts'
import type { ReplyOutline } from './outline.ts'
import type { PartReader, ReplyPart } from './reply-parts.ts'
import { createMessagesEnd, type StreamEnd } from './stream-end.ts'
import { readUsage, type Usage } from './usage.ts'
import { lastNamed, objectsIn, type WrittenIn } from './usage-check.ts'

/** API shapes of clients: Anthropic's Messages, which is also the canonical one, and OpenAI's chat completions and Responses. */
export type DialectName = 'messages' | 'chat' | 'responses'

/** Meaning of one event for the reply as a whole. */
export interface EventSign {
  /** `stop`: nothing is missing. `finish`: nothing is missing if the stream ends here. `error`: it has failed. */
  readonly kind: 'stop' | 'finish' | 'error' | 'usage'
  readonly usage?: Usage | undefined
  readonly stopReason?: string | undefined
  /** Names of the tools that the event calls. */
  readonly tools?: readonly string[]
}

/** Readers of a dialect's replies: their usage and their ending. */
export interface ReplyDialect {
  readonly name: DialectName
  /** Names of the events with usage or an ending; the data of others is not decoded. */
  readonly meteredEvents: ReadonlySet<string>
  readEvent(name: string, data: string): EventSign | undefined
  /** The `usage` member of a JSON reply. */
  readUsage(raw: unknown): Usage | undefined
  /** Reads the outline of a JSON reply, given its top-level members. Throws `ScanError`. */
  readOutline(json: string, members: readonly Child[]): Partial<ReplyOutline>
  /** Places of the model's text in a reply. */
  readonly written: WrittenIn
  /** Creates a translator to canonical events, for listeners; `undefined` when the dialect is the canonical one. */
  readonly toMessagesEvents: (() => EventTranslator) | undefined
  /** Translates a JSON reply to the canonical dialect, `undefined` when it is no message; unset in the canonical one. */
  readonly toMessage: ((body: Buffer) => Buffer | undefined) | undefined
  /**
   * Finds the parts of a JSON reply, read as latin1, that plugins may rewrite. Throws `ScanError`. Unset where a reply repeats
   * its texts: it is rewritten in the canonical dialect.
   */
  readonly partsOf: ((json: string) => readonly ReplyPart[]) | undefined
  /** Creates a reader of the same parts of a stream. */
  readonly createPartReader: (() => PartReader) | undefined
  /** Creates the early end of a stream of this dialect, for the client's own request. */
  createEnd(request: RequestDocument): StreamEnd
}

const STOP: EventSign = { kind: 'stop' }
const ERROR: EventSign = { kind: 'error' }
const TOOL_USE = /^(?:server_|mcp_)?tool_use$/

/** The canonical dialect. */
export const MESSAGES_REPLIES: ReplyDialect = {
  name: 'messages',
  meteredEvents: new Set(['message_start', 'content_block_start', 'message_delta', 'message_stop', 'error']),
  readEvent(name, data) {
    if (name === 'message_stop') return STOP
    if (name === 'error') return ERROR
    return readMessagesEvent(name, data)
  },
  readUsage,
  readOutline: (json, members) => ({
    stopReason: textAt(json, lastNamed(members, 'stop_reason')) || undefined,
    tools: objectsIn(json, json.includes('tool_use"') ? lastNamed(members, 'content') : undefined)
      .filter((block) => TOOL_USE.test(textAt(json, lastNamed(block, 'type'))))
      .map((block) => textAt(json, lastNamed(block, 'name'))),
  }),
  written: {
    event: 'content_block_delta',
    members: ['text', 'partial_json'],
    // Results of the provider's tools are blocks, too, but not text of the model.
    inReply: (json, members) =>
      objectsIn(json, lastNamed(members, 'content')).map((block) => {
        const type = lastNamed(block, 'type')
        const kind = type && json.slice(type.start, type.end)
        return kind === '"text"' || kind === '"tool_use"'
          ? lastNamed(block, kind === '"text"' ? 'text' : 'input')
          : undefined
      }),
  },
  toMessagesEvents: undefined,
  toMessage: undefined,
  partsOf: partsOfMessage,
  createPartReader: createMessagesPartReader,
  createEnd: createMessagesEnd,
}

function readMessagesEvent(name: string, data: string): EventSign {
  if (name === 'content_block_start') return { kind: 'usage', tools: data.includes('tool_use"') ? toolsOf(data) : [] }
  const event = tryParseJson(data)
  if (!isObject(event)) return { kind: 'usage' }
  const { message, delta, usage } = event
  if (name === 'message_start')
    return { kind: 'usage', usage: readUsage(isObject(message) ? message.usage : undefined) }
  const stopReason = isObject(delta) && typeof delta.stop_reason === 'string' ? delta.stop_reason : undefined
  return { kind: 'usage', usage: readUsage(usage), stopReason }
}

/** Returns the tool that a block calls, the client's or the provider's own. */
function toolsOf(data: string): string[] {
  const event = tryParseJson(data)
  if (!isObject(event) || !isObject(event.content_block)) return []
  const { type, name } = event.content_block
  return TOOL_USE.test(String(type)) && typeof name === 'string' ? [name] : []
}
