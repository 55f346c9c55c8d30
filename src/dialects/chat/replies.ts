import type { Child } from '../../core/json/scan.ts'
import type { EventSign, ReplyDialect } from '../../core/reply/reply-dialect.ts'
import { lastNamed, membersOf, objectsIn } from '../../core/reply/usage-check.ts'
import { createChatEnd } from './reply/chat-end.ts'
import { createChatPartReader, partsOfCompletion } from './reply/chat-parts.ts'
import { createMessagesEvents } from './reply/to-messages-events.ts'
import { toMessagesReply } from './reply/to-messages-reply.ts'
import { readChatUsage } from './reply/usage.ts'
import { wantsUsage } from './wants-usage.ts'

/** Identity for a reply that has neither id nor model. */
const NAMELESS = { model: '', id: '' }
const STOP: EventSign = { kind: 'stop' }
const FINISH: EventSign = { kind: 'finish' }
const ERROR: EventSign = { kind: 'error' }

/** Members that concern the whole answer. Most chunks have none of them, and are not parsed. */
const USAGE = /"usage"\s*:\s*\{/
const FINISHED = /"finish_reason"\s*:\s*"/
const FAILED = /"error"\s*:\s*[{"]/

/**
 * Replies of OpenAI's chat completions. Their streams end with `[DONE]`; some servers omit it, so an answer with a
 * `finish_reason` is complete if the stream ends well.
 */
export const CHAT_REPLIES: ReplyDialect = {
  name: 'chat',
  meteredEvents: new Set(['message']),
  readEvent(_name, data) {
    if (data.startsWith('[DONE]')) return STOP
    if (USAGE.test(data) || FAILED.test(data)) return readChunk(data)
    return FINISHED.test(data) ? FINISH : undefined
  },
  readUsage: readChatUsage,
  written: {
    event: 'message',
    members: ['content', 'arguments'],
    inReply: (json, members) =>
      objectsIn(json, lastNamed(members, 'choices')).flatMap((choice) => writtenIn(json, choice)),
  },
  toMessagesEvents: () => createMessagesEvents(NAMELESS),
  toMessage: (body) => toMessagesReply(body, NAMELESS),
  partsOf: partsOfCompletion,
  createPartReader: createChatPartReader,
  createEnd: (request) => createChatEnd({ includeUsage: wantsUsage(request) }),
}

/** Reads a chunk's own members: the model's text may contain lookalikes. */
function readChunk(data: string): EventSign | undefined {
  try {
    const { usage, error, choices } = JSON.parse(data)
    if (error !== undefined && error !== null && choices === undefined) return ERROR
    const isFinished = Array.isArray(choices) && typeof choices[0]?.finish_reason === 'string'
    return { kind: isFinished ? 'finish' : 'usage', usage: readChatUsage(usage) }
  } catch {
    return undefined
  }
}

/** Returns the text and the call arguments of a choice. */
function writtenIn(json: string, choice: readonly Child[]): (Child | undefined)[] {
  const message = membersOf(json, lastNamed(choice, 'message'))
  const content = lastNamed(message, 'content')
  const calls = objectsIn(json, lastNamed(message, 'tool_calls'))
  // Parts of a list may be images; generated text is one string.
  const text = content && json[content.start] === '"' ? content : undefined
  return [text, ...calls.map((call) => lastNamed(membersOf(json, lastNamed(call, 'function')), 'arguments'))]
}
