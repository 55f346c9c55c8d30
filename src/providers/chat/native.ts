import type { Edit } from '../../core/json/splice.ts'
import { DroppedFields } from '../../core/request/dropped-fields.ts'
import type { Exchange, Target } from '../../core/request/exchange.ts'
import { RequestDocument } from '../../core/request/request.ts'
import { type ChatHabits, toChatRequest } from '../../dialects/chat/to-chat-request.ts'
import { changedFields } from '../changed-fields.ts'

/**
 * DESIGN — a chat client in front of a chat provider
 *
 * The client's bytes are sent unchanged, unknown fields included. Only these are spliced in:
 * - the model, when its name has a prefix or is an alias, and with it the name of the limit, where the model needs the newer;
 * - `stream_options.include_usage`, when a streaming client did not request usage, which is needed to compute the cost.
 *   The chunk that it adds is removed from the stream again (`usage-filter.ts`);
 * - the fields that plugins have edited in the canonical request, translated into this dialect.
 */
export interface NativeRequest {
  readonly bytes: Buffer
  readonly droppedFields: DroppedFields | undefined
  /** True when the gateway requested the usage on its own account. */
  readonly asksUsage: boolean
}

/** Canonical fields, and the fields of this dialect with the same meaning. */
const COUNTERPARTS: Readonly<Record<string, readonly string[]>> = {
  messages: ['messages'],
  system: ['messages'],
  tools: ['tools', 'functions'],
  tool_choice: ['tool_choice', 'function_call', 'parallel_tool_calls'],
  max_tokens: ['max_tokens', 'max_completion_tokens'],
  stop_sequences: ['stop'],
  thinking: ['reasoning_effort'],
  output_config: ['reasoning_effort', 'response_format'],
  metadata: ['user'],
}

/** Prepares the client's own request for the provider. */
export function nativeChatRequest(exchange: Exchange, target: Target, habits: ChatHabits): NativeRequest {
  const { document } = exchange.client
  const { model } = target
  const edits: Edit[] = []
  if (document.model !== model)
    edits.push({ op: 'replace', path: ['model'], value: model }, ...limitEdits(document, target, habits))
  const usage = habits.streamUsage && document.stream ? usageEdit(document) : undefined
  if (usage !== undefined) edits.push(usage)
  const translation = exchange.isEdited ? retold(exchange, target, habits) : undefined
  edits.push(...(translation?.edits ?? []))
  return {
    bytes: edits.length === 0 ? document.bytes : document.edited(edits).bytes,
    droppedFields: translation?.droppedFields,
    asksUsage: usage !== undefined,
  }
}

/**
 * Renames the token limit for reasoning models. Clients recognise these by name and send `max_completion_tokens`; behind a
 * prefix or an alias they cannot, and such a model refuses `max_tokens`.
 */
function limitEdits(document: RequestDocument, { model }: Target, habits: ChatHabits): Edit[] {
  const limit = document.raw('max_tokens')
  if (limit === undefined || habits.maxTokensField === 'max_tokens' || !habits.fixedSampling?.test(model)) return []
  const isGiven = document.shape.fields.has(habits.maxTokensField)
  const removed: Edit = { op: 'remove', path: ['max_tokens'] }
  return isGiven ? [removed] : [removed, { op: 'add', path: [habits.maxTokensField], value: limit }]
}

/** Returns the edit that requests usage; `undefined` when the client requests it itself. */
function usageEdit(document: RequestDocument): Edit | undefined {
  const options = document.field('stream_options')
  if (typeof options !== 'object' || options === null)
    return { op: 'add', path: ['stream_options'], value: { include_usage: true } }
  if ((options as { include_usage?: unknown }).include_usage === true) return undefined
  return { op: 'add', path: ['stream_options', 'include_usage'], value: true }
}

/** Returns the fields that plugins have changed, translated into this dialect. */
function retold(
  exchange: Exchange,
  target: Target,
  habits: ChatHabits,
): { edits: Edit[]; droppedFields: DroppedFields } {
  const { client, request } = exchange
  const { model } = target
  const translation = toChatRequest(request, { model, habits, assumed: exchange.assumed })
  const canonical = new RequestDocument(translation.bytes)
  const changed = changedFields(exchange)
  const fields = new Set(changed.flatMap((name) => COUNTERPARTS[name] ?? [name]))
  // Only a translated field can lose anything, on the way into the canonical request or out of it.
  const concerned = new Set([...changed, ...fields])
  const droppedFields = new DroppedFields()
  for (const lost of [client.droppedFields, translation.droppedFields]) droppedFields.add(lost.about(concerned))
  droppedFields.assertCarried(target.provider)
  const edits = [...fields].flatMap((name): Edit[] => {
    const value = canonical.raw(name)
    if (value !== undefined) return [{ op: 'add', path: [name], value }]
    return client.document.shape.fields.has(name) ? [{ op: 'remove', path: [name] }] : []
  })
  return { edits, droppedFields }
}
