import type { Child } from '../../core/json/scan.ts'
import { textAt } from '../../core/reply/messages-parts.ts'
import type { EventSign, ReplyDialect } from '../../core/reply/reply-dialect.ts'
import { lastNamed, membersOf, objectsIn } from '../../core/reply/usage-check.ts'
import { createChatEnd } from './reply/chat-end.ts'
import { createChatPartReader, partsOfCompletion } from './reply/chat-parts.ts'
import { messageEndingOf } from './reply/stop-reasons.ts'
import { createMessagesEvents } from './reply/to-messages-events.ts'
import { toMessagesReply } from './reply/to-messages-reply.ts'
import { readChatUsage } from './reply/usage.ts'
import { wantsUsage } from './wants-usage.ts'

/** Identity for a reply that has neither id nor model. */
const NAMELESS = { model: '', id: '' }
const STOP: EventSign = { kind: 'stop' }
const ERROR: EventSign = { kind: 'error' }

/** Members that concern the whole answer. Most chunks have none of them, and are not parsed. */
const USAGE = /"usage"\s*:\s*\{/
const FINISHED = /"finish_reason"\s*:\s*"(\w*)/
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
    if (USAGE.test(data) || FAILED.test(data) || beginsCall(data)) return readChunk(data)
    const finish = FINISHED.exec(data)
    return finish === null ? undefined : { kind: 'finish', stopReason: stopReasonOf(finish[1]) }
  },
  readUsage: readChatUsage,
  readOutline(json, members) {
    const choice = objectsIn(json, lastNamed(members, 'choices'))[0] ?? []
    const calls = objectsIn(json, lastNamed(membersOf(json, lastNamed(choice, 'message')), 'tool_calls'))
    const nameOf = (call: readonly Child[]) =>
      textAt(json, lastNamed(membersOf(json, lastNamed(call, 'function') ?? lastNamed(call, 'custom')), 'name'))
    const tools = calls.map(nameOf)
    return { stopReason: stopReasonOf(textAt(json, lastNamed(choice, 'finish_reason')), tools.length > 0), tools }
  },
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
    const choice = Array.isArray(choices) ? choices[0] : undefined
    const stopReason = stopReasonOf(choice?.finish_reason)
    const tools = toolsOf(choice?.delta?.tool_calls)
    return { kind: stopReason === undefined ? 'usage' : 'finish', usage: readChatUsage(usage), stopReason, tools }
  } catch {
    return undefined
  }
}

/** Tests for a chunk with the name of a called tool; the further ones of a call have arguments alone. */
function beginsCall(data: string): boolean {
  return data.includes('"tool_calls"') && data.includes('"name"')
}

function toolsOf(calls: unknown): string[] {
  if (!Array.isArray(calls)) return []
  return calls.map((call) => call?.function?.name ?? call?.custom?.name).filter((name) => typeof name === 'string')
}

function stopReasonOf(finishReason: unknown, hasCalled = false): string | undefined {
  if (typeof finishReason !== 'string' || finishReason === '') return undefined
  return messageEndingOf({ finishReason, stoppedBy: undefined, hasRefused: false, hasCalled }).stop_reason
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
