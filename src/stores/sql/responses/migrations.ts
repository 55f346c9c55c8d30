import type { Migration } from 'kysely/migration'
import { addCounts, addTexts } from '../engine/columns.ts'

/** The conversation of each stored response. */
export const responseConversations: Migration = {
  async up(db) {
    await db.schema.alterTable('stored_response').addColumn('conversation_id', 'text').execute()
  },
}

/** The table of stored responses. */
export const responses: Migration = {
  async up(db) {
    const table = addTexts(db.schema.createTable('stored_response'), ['scope', 'id', 'provider', 'account'])
    await addCounts(table, ['size_bytes', 'created_at_ms', 'expires_at_ms'])
      .addColumn('total_tokens', 'bigint')
      .addColumn('content', 'text')
      .addPrimaryKeyConstraint('stored_response_key', ['scope', 'id'])
      .execute()
    await db.schema
      .createIndex('stored_response_by_caller')
      .on('stored_response')
      .columns(['scope', 'created_at_ms', 'id'])
      .execute()
    await db.schema.createIndex('stored_response_by_expiry').on('stored_response').column('expires_at_ms').execute()
    await db.schema
      .createIndex('stored_response_by_age')
      .on('stored_response')
      .columns(['created_at_ms', 'size_bytes'])
      .execute()
  },
}
