import { GatewayError } from '../../../core/errors.ts'
import { isObject, type JsonObject } from '../../../core/json/json-value.ts'
import type { RequestDocument } from '../../../core/request/request.ts'
import { SUMMARY_PREFIX, type SummarySeal } from './summary-seal.ts'

/**
 * How a request compacts its conversation: `window` is a call of `/responses/compact`, whose reply is the items that replace
 * the conversation; `item` ends in a `compaction_trigger`, and its response is one compaction item.
 */
export type CompactionKind = 'window' | 'item'

const TRIGGER = 'compaction_trigger'
/** Types of items that stand for an earlier conversation. */
export const COMPACTED_TYPES: ReadonlySet<unknown> = new Set(['compaction', 'compaction_summary', 'context_compaction'])
/** Summaries in one request: a conversation has one, and some clients keep those before it. */
const MOST_SUMMARIES = 32

/** The request by which a model that cannot compact summarises its conversation. */
const SUMMARY_PROMPT = `Stop the work here and write a summary of this conversation. Another model continues in your place: it has your summary and none of what came before.

Write down:
- what the user asked for, in their words where these matter, with every constraint and preference;
- what was done and found, with the exact paths, commands, names, values and error texts that are still needed;
- what was decided, and why;
- how far the work is now: files changed, tests run, what is known to work and what is not;
- the next steps, in order.

Call no tool and do not continue the work. Answer with the summary alone.`
const SUMMARY_HEADING =
  'The conversation up to here was replaced by this summary, which its model wrote for you to continue from:\n\n'

/** Returns the kind of compaction that a request triggers by its last item, if it does. */
export function triggeredKind(document: RequestDocument): CompactionKind | undefined {
  if (!document.bytes.includes(TRIGGER)) return undefined
  const input = document.field('input')
  return Array.isArray(input) && isTrigger(input.at(-1)) ? 'item' : undefined
}

function isTrigger(item: unknown): boolean {
  return isObject(item) && item.type === TRIGGER
}

/** Returns the body of the request for a summary, which takes the place of a compaction in the Messages shape. */
export function toSummaryRequest(body: JsonObject): JsonObject {
  const { input, text: _, ...rest } = body
  const items: unknown[] = typeof input === 'string' ? [{ role: 'user', content: input }] : listIn(input)
  const asked = isTrigger(items.at(-1)) ? items.slice(0, -1) : items
  const prompt = { type: 'message', role: 'user', content: [{ type: 'input_text', text: SUMMARY_PROMPT }] }
  // The tools stay, since the conversation has calls of them, and a provider's cache begins with them.
  return { ...rest, input: [...asked, prompt], tool_choice: 'none' }
}

/** Puts a compaction's own form in the place of the prompt, in items that were translated back from the Messages shape. */
export function withoutSummaryPrompt(items: readonly JsonObject[], kind: CompactionKind): readonly JsonObject[] {
  const last = items.at(-1)
  if (last === undefined || textOf(last.content) !== SUMMARY_PROMPT) return items
  return [...items.slice(0, -1), ...(kind === 'item' ? [{ type: TRIGGER }] : [])]
}

function textOf(content: unknown): unknown {
  if (!Array.isArray(content)) return content
  return content.length === 1 && isObject(content[0]) ? content[0].text : undefined
}

function listIn(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

/** Opens the summaries that this gateway has sealed among the items: texts by the path of their item. Throws `invalid_request`. */
export function openSummaries(
  document: RequestDocument,
  { seal, scope }: { seal: SummarySeal; scope: string },
): ReadonlyMap<string, string> {
  const opened = new Map<string, string>()
  if (!document.bytes.includes(SUMMARY_PREFIX)) return opened
  for (const [index, item] of listIn(document.field('input')).entries()) {
    const sealed = sealedIn(item)
    if (sealed === undefined) continue
    const path = `input[${index}]`
    const summary = opened.size < MOST_SUMMARIES ? seal.open(sealed, scope) : undefined
    if (summary === undefined) throw unopened(path)
    opened.set(path, SUMMARY_HEADING + summary)
  }
  return opened
}

function sealedIn(item: unknown): string | undefined {
  if (!isObject(item) || !COMPACTED_TYPES.has(item.type)) return undefined
  const { encrypted_content: sealed } = item
  return typeof sealed === 'string' && sealed.startsWith(SUMMARY_PREFIX) ? sealed : undefined
}

function unopened(path: string): GatewayError {
  return new GatewayError(
    'invalid_request',
    `${path}.encrypted_content: this summary of a conversation was changed, or made for another key or by another gateway, or is one of more than ${MOST_SUMMARIES}. Send the items that it replaced, or begin a new conversation.`,
    { fields: { param: path } },
  )
}

/** Returns a message with the same summary, for a provider that has not made it. */
export function toSummaryItem(summary: string): JsonObject {
  return { type: 'message', role: 'user', content: [{ type: 'input_text', text: summary }] }
}
