import { SUM_COLUMNS, type SumColumn } from './schema.ts'

/** Sums of the requests that were admitted in a quarter of an hour, with the same properties. */
export type UsageSliceTable = SliceKey & Record<SumColumn, number>

/** Properties of a slice's requests. Texts are empty where requests do not have them. */
export interface SliceKey {
  /** Begin and digest of the other members: sorts by time, and is short enough for an index. */
  id: string
  scope: string
  /** Begin of the quarter of an hour, in milliseconds since 1970. */
  slice_ms: number
  key_id: string
  user_id: string
  team_id: string
  /** JSON list of names. */
  tags: string
  client: string
  /** Empty without a reply. */
  provider: string
  /** Empty without a reply, and for errors: unknown model names are unbounded. */
  model: string
  /** Names of the modules in the pipeline, sorted, with commas between them. */
  modules: string
}

/** Text columns of the key. */
export const SLICE_TEXTS = [
  'scope',
  'key_id',
  'user_id',
  'team_id',
  'tags',
  'client',
  'provider',
  'model',
  'modules',
] as const

/** Type of each column of a slice. The cast is safe: the names are those of the sums. */
export const SLICE_TYPES = {
  id: 'text',
  scope: 'text',
  slice_ms: 'bigint',
  key_id: 'text',
  user_id: 'text',
  team_id: 'text',
  tags: 'text',
  client: 'text',
  provider: 'text',
  model: 'text',
  modules: 'text',
  ...(Object.fromEntries(SUM_COLUMNS.map((column) => [column, 'bigint'])) as Record<SumColumn, 'bigint'>),
} as const satisfies Record<keyof UsageSliceTable, 'text' | 'bigint'>
