import { each, rowToCopy } from '../engine/columns.ts'
import {
  CONVERSATION_SUMS,
  CONVERSATION_TYPES,
  type ConversationKey,
  type UsageConversationTable,
} from './conversation-schema.ts'
import { isError, plausible } from './hours.ts'
import type { UsageRequestTable } from './schema.ts'

/** Amounts of a request that are added up under the same name. */
const ADDED = CONVERSATION_SUMS.filter(
  (column) => column !== 'turns' && column !== 'errors' && column !== 'unpriced' && column !== 'saved_nano_usd',
)

/** Sums requests by conversation and model, in the one order in which rows are locked, which prevents deadlocks. */
export function sumByConversation(requests: readonly UsageRequestTable[]): UsageConversationTable[] {
  const sums = new Map<string, UsageConversationTable>()
  for (const request of requests) {
    const key = keyOf(request)
    if (key === undefined) continue
    const text = JSON.stringify([key.scope, key.conversation_id, key.provider, key.model])
    let sum = sums.get(text)
    if (sum === undefined) {
      sum = emptySum(key, request)
      sums.set(text, sum)
    }
    addTo(sum, request)
  }
  return [...sums].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum)
}

function keyOf(request: UsageRequestTable): ConversationKey | undefined {
  const { scope, conversation_id, provider, model_served } = request
  if (conversation_id === null) return undefined
  return { scope, conversation_id, provider: provider ?? '', model: isError(request) ? '' : (model_served ?? '') }
}

const EMPTY = rowToCopy<UsageConversationTable>({
  ...each(Object.keys(CONVERSATION_TYPES), null),
  ...each(CONVERSATION_SUMS, 0),
})

function emptySum(
  { scope, conversation_id, provider, model }: ConversationKey,
  request: UsageRequestTable,
): UsageConversationTable {
  const sum = { ...EMPTY }
  sum.scope = scope
  sum.conversation_id = conversation_id
  sum.provider = provider
  sum.model = model
  sum.first_at_ms = request.started_at_ms
  sum.last_id = ''
  return sum
}

function setFacts(sum: UsageConversationTable, request: UsageRequestTable): void {
  sum.root_id = request.root_id ?? request.conversation_id ?? ''
  sum.parent_id = request.parent_id
  sum.agent = request.agent
  sum.client = request.client
  sum.source = request.conversation_source ?? 'prefix'
  sum.last_at_ms = request.started_at_ms
  sum.last_id = request.id
  sum.context_tokens = contextOf(request) ?? sum.context_tokens
}

function addTo(sum: UsageConversationTable, request: UsageRequestTable): void {
  if (request.id >= sum.last_id) setFacts(sum, request)
  sum.first_at_ms = Math.min(sum.first_at_ms, request.started_at_ms)
  sum.turns++
  if (isError(request) || request.outcome === 'refused') sum.errors++
  for (const column of ADDED) sum[column] += plausible(request[column]) ?? 0
  const cost = plausible(request.cost_nano_usd)
  const without = plausible(request.counterfactual_nano_usd)
  if (cost === null) sum.unpriced++
  else if (without !== null) sum.saved_nano_usd += without - cost
}

/** Returns the input tokens of a request, cached ones included; `null` without any, as of a refused one. */
function contextOf({ input_tokens: input, ...request }: UsageRequestTable): number | null {
  const tokens = (input ?? 0) + (request.cache_read_tokens ?? 0) + (request.cache_write_tokens ?? 0)
  return tokens === 0 ? null : tokens
}
