import type { RequestDocument } from '../request/request.ts'
import type { EventTranslator } from './event-translator.ts'
import { createMessagesPartReader, partsOfMessage } from './messages-parts.ts'
import type { PartReader, ReplyPart } from './reply-parts.ts'
import { createMessagesEnd, type StreamEnd } from './stream-end.ts'
import { readUsage, type Usage } from './usage.ts'
import { lastNamed, objectsIn, type WrittenIn } from './usage-check.ts'

/** The shapes that clients speak: Anthropic's Messages, which is also the canonical one, and OpenAI's chat completions. */
export type DialectName = 'messages' | 'chat'

/** What one event says about the answer as a whole. */
export interface EventSign {
  /** `stop`: nothing is missing. `finish`: nothing is missing if the stream ends here. `error`: it has failed. */
  readonly kind: 'stop' | 'finish' | 'error' | 'usage'
  readonly usage?: Usage | undefined
}

/** How replies of a dialect are read: what they say of usage and of their end. */
export interface ReplyDialect {
  readonly name: DialectName
  /** Names of the events that say it; the data of others is not even decoded. */
  readonly meteredEvents: ReadonlySet<string>
  readEvent(name: string, data: string): EventSign | undefined
  /** The `usage` member of a JSON reply. */
  readUsage(raw: unknown): Usage | undefined
  /** Where a reply has what the model has written. */
  readonly written: WrittenIn
  /** Tells a stream's events in the canonical shape, for whoever listens; `undefined` when they are in it. */
  readonly toMessagesEvents: (() => EventTranslator) | undefined
  /** A JSON reply in the canonical shape, `undefined` when it is no answer; unset when replies are in it. */
  readonly toMessage: ((body: Buffer) => Buffer | undefined) | undefined
  /** Parts of a JSON reply, read as latin1, that modules may rewrite. Throws `ScanError`. */
  partsOf(json: string): readonly ReplyPart[]
  /** Creates a reader of the same parts of a stream. */
  createPartReader(): PartReader
  /** What can end a stream of this dialect early, for the client's own request. */
  createEnd(request: RequestDocument): StreamEnd
}

const STOP: EventSign = { kind: 'stop' }
const ERROR: EventSign = { kind: 'error' }

/** The canonical dialect. */
export const MESSAGES_REPLIES: ReplyDialect = {
  name: 'messages',
  meteredEvents: new Set(['message_start', 'message_delta', 'message_stop', 'error']),
  readEvent(name, data) {
    if (name === 'message_stop') return STOP
    if (name === 'error') return ERROR
    return { kind: 'usage', usage: usageOfEvent(name, data) }
  },
  readUsage,
  written: {
    event: 'content_block_delta',
    members: ['text', 'partial_json'],
    // Results of the provider's tools are blocks, too, and nothing that the model has written.
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

function usageOfEvent(name: string, data: string): Usage | undefined {
  try {
    const event = JSON.parse(data)
    return readUsage(name === 'message_start' ? event?.message?.usage : event?.usage)
  } catch {
    return undefined
  }
}
