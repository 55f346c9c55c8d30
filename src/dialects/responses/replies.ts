import { isObject, tryParseJson } from '../../core/json/json-value.ts'
import type { EventSign, ReplyDialect } from '../../core/reply/reply-dialect.ts'
import { lastNamed, objectsIn } from '../../core/reply/usage-check.ts'
import { createResponsesEnd } from './reply/responses-end.ts'
import { createMessagesEvents } from './reply/to-messages-events.ts'
import { toMessagesReply } from './reply/to-messages-reply.ts'
import { readResponsesUsage } from './reply/usage.ts'

/** Identity for a reply that has neither id nor model. */
const NAMELESS = { model: '', id: '' }
const KINDS: ReadonlyMap<string, EventSign['kind']> = new Map([
  ['response.completed', 'stop'],
  ['response.incomplete', 'stop'],
  ['response.failed', 'error'],
  ['error', 'error'],
])

/**
 * Replies of OpenAI's Responses. Their streams repeat every text at its end, and again in the last event, so plugins
 * rewrite them in the Messages shape alone.
 */
export const RESPONSES_REPLIES: ReplyDialect = {
  name: 'responses',
  meteredEvents: new Set(KINDS.keys()),
  readEvent(name, data) {
    const kind = KINDS.get(name)
    return kind && { kind, usage: usageIn(data) }
  },
  readUsage: readResponsesUsage,
  written: {
    event: 'response.output_text.delta',
    members: ['delta'],
    inReply: (json, members) =>
      objectsIn(json, lastNamed(members, 'output')).flatMap((item) => [
        ...objectsIn(json, lastNamed(item, 'content')).map((part) => lastNamed(part, 'text')),
        lastNamed(item, 'arguments'),
      ]),
  },
  toMessagesEvents: () => createMessagesEvents(NAMELESS),
  toMessage: (body) => toMessagesReply(body, NAMELESS),
  partsOf: undefined,
  createPartReader: undefined,
  createEnd: createResponsesEnd,
}

function usageIn(data: string): EventSign['usage'] {
  const event = tryParseJson(data)
  return isObject(event) && isObject(event.response) ? readResponsesUsage(event.response.usage) : undefined
}
