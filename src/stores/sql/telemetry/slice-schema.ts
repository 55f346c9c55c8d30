import { bigints, type ColumnTypes, columns, type RowOf } from '../engine/columns.ts'
import { SUM_COLUMNS, type SumColumn } from './schema.ts'

/** Properties of a slice's requests. Texts are empty where requests do not have them. */
const SLICE_KEY = {
  /** Begin and digest of the other members: sorts by time, and is short enough for an index. */
  id: 'text',
  scope: 'text',
  /** Begin of the quarter of an hour, in milliseconds since 1970. */
  slice_ms: 'bigint',
  key_id: 'text',
  user_id: 'text',
  team_id: 'text',
  /** JSON list of names. */
  tags: 'text',
  client: 'text',
  /** Empty without a reply. */
  provider: 'text',
  /** Empty without a reply, and for errors: unknown model names are unbounded. */
  model: 'text',
  /** Names of the modules in the pipeline, sorted, with commas between them. */
  modules: 'text',
} as const satisfies ColumnTypes

/** Key of a slice. */
export type SliceKey = RowOf<typeof SLICE_KEY>

/** Type of each column of a slice. */
export const SLICE_TYPES = { ...SLICE_KEY, ...bigints(SUM_COLUMNS) }

/** Sums of the requests that were admitted in a quarter of an hour, with the same properties. */
export type UsageSliceTable = SliceKey & Record<SumColumn, number>

/** Creates the table of slices. */
export const SLICE_TABLE_SQL = `
create table usage_slice (
  ${columns(SLICE_TYPES, 'not null')},
  primary key (id)
);
`
