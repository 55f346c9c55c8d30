import { type CreateTableBuilder, sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import { addTexts } from '../engine/columns.ts'
import { CONVERSATION_SUMS } from './conversation-schema.ts'
import { addToSlices } from './put.ts'
import { RANGE_SUMS, SUM_COLUMNS, type UsageRequestTable } from './schema.ts'
import { SLICE_TEXTS } from './slice-schema.ts'

const CONVERSATION_KEY = ['conversation_id', 'scope', 'provider', 'model'] as const
const LATER: ReadonlySet<string> = new Set(RANGE_SUMS)
const FIRST_SUMS = SUM_COLUMNS.filter((column) => !LATER.has(column))

const usage: Migration = {
  async up(db) {
    await db.schema
      .createTable('usage_request')
      .addColumn('id', 'text', (column) => column.primaryKey().notNull())
      .addColumn('request_id', 'text', (column) => column.notNull())
      .addColumn('has_receipt', 'integer', (column) => column.notNull())
      .addColumn('scope', 'text', (column) => column.notNull())
      .addColumn('key_id', 'text')
      .addColumn('started_at_ms', 'bigint', (column) => column.notNull())
      .addColumn('route', 'text', (column) => column.notNull())
      .addColumn('dialect', 'text', (column) => column.notNull())
      .addColumn('is_stream', 'integer', (column) => column.notNull())
      .addColumn('status', 'integer')
      .addColumn('outcome', 'text', (column) => column.notNull())
      .addColumn('cache', 'text', (column) => column.notNull())
      .addColumn('pipeline', 'text', (column) => column.notNull())
      .addColumn('model_asked', 'text', (column) => column.notNull())
      .addColumn('model_served', 'text')
      .addColumn('provider', 'text')
      .addColumn('input_tokens', 'bigint')
      .addColumn('output_tokens', 'bigint')
      .addColumn('cache_read_tokens', 'bigint')
      .addColumn('cache_write_tokens', 'bigint')
      .addColumn('cost_nano_usd', 'bigint')
      .addColumn('counterfactual_nano_usd', 'bigint')
      .addColumn('counterfactual_basis', 'text', (column) => column.notNull())
      .addColumn('gateway_us', 'bigint', (column) => column.notNull())
      .addColumn('provider_us', 'bigint')
      .addColumn('total_us', 'bigint', (column) => column.notNull())
      .addColumn('trace', 'text', (column) => column.notNull())
      .execute()
    await db.schema.createIndex('usage_request_by_scope').on('usage_request').columns(['scope', 'id']).execute()
    await db.schema.createIndex('usage_request_by_request').on('usage_request').column('request_id').execute()

    let hours: CreateTableBuilder<string, string> = db.schema.createTable('usage_hour')
    hours = hours.addColumn('scope', 'text', (column) => column.notNull())
    hours = hours.addColumn('hour_ms', 'bigint', (column) => column.notNull())
    hours = hours.addColumn('provider', 'text', (column) => column.notNull())
    hours = hours.addColumn('model', 'text', (column) => column.notNull())
    for (const name of FIRST_SUMS) hours = hours.addColumn(name, 'bigint', (column) => column.notNull())
    await hours.addPrimaryKeyConstraint('usage_hour_key', ['scope', 'hour_ms', 'provider', 'model']).execute()
    await db.schema.createIndex('usage_hour_by_hour').on('usage_hour').column('hour_ms').execute()
  },
}

const reasons: Migration = {
  async up(db) {
    await db.schema.alterTable('usage_request').addColumn('reason', 'text').execute()
    await db.schema.alterTable('usage_request').addColumn('price_source', 'text').execute()
  },
}

const ranges: Migration = {
  async up(db) {
    await db.schema.alterTable('usage_request').addColumn('counterfactual_at_most_nano_usd', 'bigint').execute()
    for (const name of RANGE_SUMS)
      await db.schema
        .alterTable('usage_hour')
        .addColumn(name, 'bigint', (column) => column.notNull().defaultTo(0))
        .execute()
  },
}

const CONVERSATION_TEXTS = [
  'conversation_id',
  'conversation_source',
  'client',
  'parent_id',
  'root_id',
  'agent',
] as const
const REPLY_TEXTS = ['stop_reason', 'tools', 'lost_reason', 'lost_detail'] as const
const CONVERSATION_COUNTS = [
  'turn',
  'cache_write_1h_tokens',
  'reasoning_tokens',
  'input_nano_usd',
  'cache_read_nano_usd',
  'cache_write_5m_nano_usd',
  'cache_write_1h_nano_usd',
  'output_nano_usd',
  'reasoning_nano_usd',
  'server_tools_nano_usd',
  'first_byte_us',
  'server_tool_calls',
  'lost_tokens',
  'lost_nano_usd',
] as const

const conversations: Migration = {
  async up(db) {
    for (const name of [...CONVERSATION_TEXTS, ...REPLY_TEXTS])
      await db.schema.alterTable('usage_request').addColumn(name, 'text').execute()
    for (const name of CONVERSATION_COUNTS)
      await db.schema.alterTable('usage_request').addColumn(name, 'bigint').execute()
    await db.schema
      .createIndex('usage_request_by_conversation')
      .on('usage_request')
      .columns(['conversation_id', 'id', 'cost_nano_usd'])
      .execute()

    let sums = addTexts(db.schema.createTable('usage_conversation'), CONVERSATION_KEY)
    sums = addTexts(sums, ['root_id', 'source', 'last_id'])
    for (const name of ['parent_id', 'agent', 'client']) sums = sums.addColumn(name, 'text')
    sums = sums.addColumn('context_tokens', 'bigint')
    for (const name of ['first_at_ms', 'last_at_ms', ...CONVERSATION_SUMS])
      sums = sums.addColumn(name, 'bigint', (column) => column.notNull())
    await sums.addPrimaryKeyConstraint('usage_conversation_key', [...CONVERSATION_KEY]).execute()
    await db.schema
      .createIndex('usage_conversation_by_root')
      .on('usage_conversation')
      .columns(['root_id', 'scope', 'last_id'])
      .execute()
    await db.schema.createIndex('usage_conversation_by_last').on('usage_conversation').column('last_id').execute()
  },
}

/** Few rows have a loss: the sums of a range read those alone. */
const losses: Migration = {
  async up(db) {
    await db.schema
      .createIndex('usage_request_lost')
      .on('usage_request')
      .column('started_at_ms')
      .where(sql.ref('lost_reason'), 'is not', null)
      .execute()
  },
}

const OWNERS = ['user_id', 'team_id', 'tags'] as const

/** Rows without a person, a team or tags, as all of local mode are, are in none of these indexes. */
const owners: Migration = {
  async up(db) {
    for (const name of OWNERS) await db.schema.alterTable('usage_request').addColumn(name, 'text').execute()
    for (const name of ['user_id', 'team_id'])
      await db.schema
        .createIndex(`usage_request_by_${name.slice(0, 4)}`)
        .on('usage_request')
        .columns([name, 'id'])
        .where(sql.ref(name), 'is not', null)
        .execute()
    await db.schema
      .createIndex('usage_request_tagged')
      .on('usage_request')
      .column('id')
      .where(sql.ref('tags'), 'is not', null)
      .execute()
  },
}

/** Rows that are read together when sums are made of them. */
const ROWS_AT_ONCE = 2000

/** Sums by person, team, tag, …, of the rows that are there, and an index of the rows with a reason. */
const slices: Migration = {
  async up(db) {
    let table = db.schema.createTable('usage_slice').addColumn('id', 'text', (column) => column.primaryKey().notNull())
    table = addTexts(table, SLICE_TEXTS).addColumn('slice_ms', 'bigint', (column) => column.notNull())
    for (const name of SUM_COLUMNS) table = table.addColumn(name, 'bigint', (column) => column.notNull())
    await table.execute()
    await db.schema
      .createIndex('usage_request_reasons')
      .on('usage_request')
      .column('id')
      .where(sql.ref('reason'), 'is not', null)
      .execute()
    for (let after = ''; ; ) {
      const rows = await db
        .selectFrom('usage_request')
        .selectAll()
        .where('id', '>', after)
        .orderBy('id')
        .limit(ROWS_AT_ONCE)
        .execute()
      // Safe: all columns of the table.
      await addToSlices(db, rows as unknown as UsageRequestTable[])
      const last = rows.at(-1)
      if (last === undefined || rows.length < ROWS_AT_ONCE) return
      after = last.id
    }
  },
}

/** The migrations from an empty database to telemetry's current tables. A released one never changes. */
export const telemetryMigrations: Readonly<Record<string, Migration>> = {
  'telemetry-0001-usage': usage,
  'telemetry-0002-reasons': reasons,
  'telemetry-0003-ranges': ranges,
  'telemetry-0004-conversations': conversations,
  'telemetry-0005-losses': losses,
  'telemetry-0006-owners': owners,
  'telemetry-0007-slices': slices,
}
