import { isObject, tryParseJson } from '../../core/json/json-value.ts'
import type { Child } from '../../core/json/scan.ts'
import { textAt } from '../../core/reply/messages-parts.ts'
import type { ReplyOutline } from '../../core/reply/outline.ts'
import type { EventSign, ReplyDialect } from '../../core/reply/reply-dialect.ts'
import { lastNamed, membersOf, objectsIn } from '../../core/reply/usage-check.ts'
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
/** Items that call a tool by its name. */
const CALLS: ReadonlySet<string> = new Set(['function_call', 'custom_tool_call', 'mcp_call'])

/**
 * Replies of OpenAI's Responses. Their streams repeat every text at its end, and again in the last event, so plugins
 * rewrite them in the Messages shape alone.
 */
export const RESPONSES_REPLIES: ReplyDialect = {
  name: 'responses',
  meteredEvents: new Set(KINDS.keys()),
  readEvent(name, data) {
    const kind = KINDS.get(name)
    return kind && { kind, ...readResponse(data) }
  },
  readUsage: readResponsesUsage,
  readOutline(json, members) {
    const output = objectsIn(json, lastNamed(members, 'output'))
    const word = (item: readonly Child[], name: string) => textAt(json, lastNamed(item, name))
    const details = membersOf(json, lastNamed(members, 'incomplete_details'))
    return outlineOf({
      status: word(members, 'status'),
      reason: word(details, 'reason'),
      items: output.map((item) => ({ type: word(item, 'type'), name: word(item, 'name') })),
    })
  },
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

function readResponse(data: string): Omit<EventSign, 'kind'> {
  const event = tryParseJson(data)
  if (!isObject(event) || !isObject(event.response)) return {}
  const { usage, status, incomplete_details: details, output } = event.response
  const items = Array.isArray(output) ? output.filter(isObject) : []
  const reason = isObject(details) ? details.reason : undefined
  return { usage: readResponsesUsage(usage), ...outlineOf({ status, reason, items }) }
}

interface Outlined {
  readonly status: unknown
  /** Why it is incomplete. */
  readonly reason: unknown
  readonly items: readonly { readonly type?: unknown; readonly name?: unknown }[]
}

function outlineOf({ status, reason, items }: Outlined): Partial<ReplyOutline> {
  const tools = items.filter(({ type }) => CALLS.has(String(type))).map(({ name }) => String(name))
  if (status === 'incomplete') return { stopReason: reason === 'content_filter' ? 'refusal' : 'max_tokens', tools }
  return status === 'completed' ? { stopReason: tools.length > 0 ? 'tool_use' : 'end_turn', tools } : { tools }
}
