import { bigints, type ColumnTypes, columns, type PartialRowOf, type RowOf } from '../engine/columns.ts'

const KEY = {
  scope: 'text',
  conversation_id: 'text',
  /** Empty without a reply. */
  provider: 'text',
  /** Empty without a reply, and for errors. */
  model: 'text',
} as const satisfies ColumnTypes

/** Key of a conversation's sums. */
export type ConversationKey = RowOf<typeof KEY>

const FACTS = {
  root_id: 'text',
  source: 'text',
  first_at_ms: 'bigint',
  last_at_ms: 'bigint',
  /** Id of its newest request, by which conversations are ordered. */
  last_id: 'text',
} as const satisfies ColumnTypes

const OPTIONAL_FACTS = {
  parent_id: 'text',
  agent: 'text',
  client: 'text',
  /** Input tokens of the newest request, cached ones included; `null` when none has reported them. */
  context_tokens: 'bigint',
} as const satisfies ColumnTypes

/** Facts of a conversation, from its newest request. */
export type ConversationFacts = RowOf<typeof FACTS> & PartialRowOf<typeof OPTIONAL_FACTS>

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

/** Type of each column. */
export const CONVERSATION_TYPES = { ...KEY, ...FACTS, ...OPTIONAL_FACTS, ...bigints(CONVERSATION_SUMS) }

/** Sums of a conversation's requests that one model has answered. */
export type UsageConversationTable = ConversationKey & ConversationFacts & Record<ConversationSum, number>

/** Creates the table of conversations. */
export const CONVERSATION_TABLE_SQL = `
create table usage_conversation (
  ${columns({ ...KEY, ...FACTS, ...bigints(CONVERSATION_SUMS) }, 'not null')},
  ${columns(OPTIONAL_FACTS)},
  constraint usage_conversation_key primary key (conversation_id, scope, provider, model)
);
create index usage_conversation_by_root on usage_conversation (root_id, scope, last_id);
create index usage_conversation_by_last on usage_conversation (last_id);
`
