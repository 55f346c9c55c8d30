import { isObject, type JsonObject } from '../../core/json/json-value.ts'
import type { Edit } from '../../core/json/splice.ts'
import type { ClientRequest } from '../../core/request/client-request.ts'
import { DroppedFields } from '../../core/request/dropped-fields.ts'
import type { Exchange, Target } from '../../core/request/exchange.ts'
import { RequestDocument } from '../../core/request/request.ts'
import type { ChatHabits } from '../../dialects/chat/to-chat-request.ts'
import {
  type CompactionKind,
  toSummaryItem,
  withoutSummaryPrompt,
} from '../../dialects/responses/compact/compaction-request.ts'
import { compactingOf } from '../../dialects/responses/responses-request.ts'
import { isSealed, openSealed } from '../../dialects/responses/sealed-thinking.ts'
import { toResponsesRequest } from '../../dialects/responses/to-responses-request.ts'
import { type NamedTool, type ToolNames, toolNamesOf } from '../../dialects/responses/tool-names.ts'
import { changedFields } from '../changed-fields.ts'

/**
 * DESIGN — a Responses client in front of a provider of Responses
 *
 * The client's bytes are sent unchanged, unknown fields and items included. Only these are spliced in:
 * - the model, when its name has a prefix or is an alias;
 * - reasoning that a provider of another API has made: the API refuses what it has not encrypted, so it is removed;
 * - summaries of compactions that the gateway has sealed: they are sent as messages;
 * - the fields that plugins have edited in the canonical request, translated into this dialect.
 */
export interface NativeRequest {
  readonly bytes: Buffer
  readonly droppedFields: DroppedFields
}

const NO_SUMMARIES: ReadonlyMap<string, string> = new Map()

/** Canonical fields, and the fields of this dialect with the same meaning. */
const COUNTERPARTS: Readonly<Record<string, readonly string[]>> = {
  messages: ['input'],
  system: ['instructions', 'input'],
  tools: ['tools'],
  tool_choice: ['tool_choice', 'parallel_tool_calls'],
  max_tokens: ['max_output_tokens'],
  thinking: ['reasoning'],
  output_config: ['reasoning', 'text'],
  metadata: ['safety_identifier'],
}

/** Prepares the client's own request for the provider. */
export function nativeResponsesRequest(exchange: Exchange, target: Target, habits: ChatHabits): NativeRequest {
  const { client } = exchange
  const { document } = client
  const droppedFields = new DroppedFields()
  const edits: Edit[] = []
  if (document.model !== target.model) edits.push({ op: 'replace', path: ['model'], value: target.model })
  const translated = exchange.isEdited ? translatedEdits(exchange, { target, habits, droppedFields }) : []
  const replacesInput = translated.some(({ path }) => path[0] === 'input')
  if (!replacesInput) edits.push(...sealedEdits(client, droppedFields))
  edits.push(...translated)
  return { bytes: edits.length === 0 ? document.bytes : document.edited(edits).bytes, droppedFields }
}

/** Returns edits that remove foreign reasoning, and restore what passed through the Messages shape. */
function sealedEdits(client: ClientRequest, droppedFields: DroppedFields): Edit[] {
  const { document } = client
  const { opened = NO_SUMMARIES } = compactingOf(client)
  if (opened.size === 0 && !isSealed(document.bytes)) return []
  const items = document.field('input')
  const edits = (Array.isArray(items) ? items : []).flatMap((item, index): Edit[] => {
    if (!isObject(item)) return []
    const path = ['input', index]
    const summary = opened.get(`input[${index}]`)
    if (summary !== undefined) return [{ op: 'replace', path, value: toSummaryItem(summary) }]
    const own = item.type === 'reasoning' ? openSealed(item) : item
    if (own === item) return []
    return own === undefined ? [{ op: 'remove', path }] : [{ op: 'replace', path, value: own }]
  })
  if (edits.some(({ op }) => op === 'remove')) droppedFields.drop('input.encrypted_content')
  return edits
}

/** Returns the fields that plugins have changed, translated into this dialect. */
function translatedEdits(
  exchange: Exchange,
  { target, habits, droppedFields }: { target: Target; habits: ChatHabits; droppedFields: DroppedFields },
): Edit[] {
  const { client, request } = exchange
  const options = { model: target.model, habits, assumed: exchange.assumed }
  const translation = toResponsesRequest(request, options)
  const canonical = new RequestDocument(translation.bytes)
  const changed = changedFields(exchange)
  const fields = new Set(changed.flatMap((name) => COUNTERPARTS[name] ?? [name]))
  // Only a translated field can lose anything, on the way into the canonical request or out of it.
  const concerned = new Set([...changed, ...fields])
  for (const lost of [client.droppedFields, translation.droppedFields]) droppedFields.add(lost.about(concerned))
  droppedFields.assertCarried(target.provider)
  const names = toolNamesOf(client.document)
  const { kind } = compactingOf(client)
  // The path of compactions takes no limit of output tokens, and refuses what it does not take.
  if (kind === 'window') fields.delete('max_output_tokens')
  return [...fields].flatMap((name): Edit[] => {
    const value = name === 'input' ? restoredItems(canonical, { names, kind }) : canonical.raw(name)
    if (value !== undefined) return [{ op: 'add', path: [name], value }]
    return client.document.shape.fields.has(name) ? [{ op: 'remove', path: [name] }] : []
  })
}

/** Returns the items with the names that their tools have in the client's request, and with its own form of a compaction. */
function restoredItems(
  canonical: RequestDocument,
  { names, kind }: { names: ToolNames; kind: CompactionKind | undefined },
): unknown {
  const items = canonical.field('input')
  if ((names.size === 0 && kind === undefined) || !Array.isArray(items)) return canonical.raw('input')
  const customIds = new Set<unknown>()
  const asked = kind === undefined ? items : withoutSummaryPrompt(items, kind)
  return asked.map((item: JsonObject) => {
    const tool = typeof item.name === 'string' ? names.get(item.name) : undefined
    if (item.type === 'function_call_output' && customIds.has(item.call_id))
      return { ...item, type: 'custom_tool_call_output' }
    if (tool === undefined) return item
    if (tool.kind === 'custom') customIds.add(item.call_id)
    return restoredCall(item, tool)
  })
}

function restoredCall({ arguments: json, ...item }: JsonObject, { kind, name, namespace }: NamedTool): JsonObject {
  const named = { ...item, name, ...(namespace !== undefined && { namespace }) }
  if (kind === 'function') return { ...named, arguments: json }
  // Safe: a custom call of this request, whose input the translation has put there.
  return { ...named, type: 'custom_tool_call', input: (JSON.parse(String(json)) as { input?: unknown }).input }
}
