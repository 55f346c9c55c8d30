/** Sums of a conversation's requests that one model has answered. */
export type UsageConversationTable = ConversationKey & ConversationFacts & Record<ConversationSum, number>

/** Key of a conversation's sums. */
export interface ConversationKey {
  scope: string
  conversation_id: string
  /** Empty without a reply. */
  provider: string
  /** Empty without a reply, and for errors. */
  model: string
}

/** Facts of a conversation, from its newest request. */
export interface ConversationFacts {
  root_id: string
  parent_id: string | null
  agent: string | null
  client: string | null
  source: string
  first_at_ms: number
  last_at_ms: number
  /** Id of its newest request, by which conversations are ordered. */
  last_id: string
  /** Input tokens of the newest request, cached ones included; `null` when none has reported them. */
  context_tokens: number | null
}

/** Sums of a conversation. */
export const CONVERSATION_SUMS = [
  'turns',
  'errors',
  'unpriced',
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'cache_write_1h_tokens',
  'reasoning_tokens',
  'server_tool_calls',
  'cost_nano_usd',
  'input_nano_usd',
  'cache_read_nano_usd',
  'cache_write_5m_nano_usd',
  'cache_write_1h_nano_usd',
  'output_nano_usd',
  'reasoning_nano_usd',
  'server_tools_nano_usd',
  'saved_nano_usd',
  'lost_tokens',
  'lost_nano_usd',
] as const

/** A column that is added up. */
export type ConversationSum = (typeof CONVERSATION_SUMS)[number]

/** Type of each column. The cast is safe: the names are those of the sums. */
export const CONVERSATION_TYPES = {
  scope: 'text',
  conversation_id: 'text',
  provider: 'text',
  model: 'text',
  root_id: 'text',
  parent_id: 'text',
  agent: 'text',
  client: 'text',
  source: 'text',
  first_at_ms: 'bigint',
  last_at_ms: 'bigint',
  last_id: 'text',
  context_tokens: 'bigint',
  ...(Object.fromEntries(CONVERSATION_SUMS.map((column) => [column, 'bigint'])) as Record<ConversationSum, 'bigint'>),
} as const satisfies Record<keyof UsageConversationTable, 'text' | 'bigint'>
