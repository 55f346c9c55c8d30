import { GatewayError } from '../../../core/errors.ts'
import type { StoredTag, TagChange } from '../../../core/ports/people.ts'
import type { Command } from '../engine/command.ts'
import { appendAudit } from './audit.ts'

/** Each request looks all of them up. */
const MOST_TAGS = 200

/** Lists the tags that have limits, by name, at most 200. */
export const listTags: Command<object, StoredTag[]> = async (db) =>
  db
    .selectFrom('tag')
    .select(['name', 'limits', 'created_at_ms as createdAtMs'])
    .orderBy('name')
    .limit(MOST_TAGS)
    .execute()

/** Sets or removes the limits of a tag. Throws `invalid_request` beyond 200 tags. */
export const setTag: Command<TagChange, void> = async (db, { name, limits, audit }, now) => {
  if (limits === null) await db.deleteFrom('tag').where('name', '=', name).execute()
  else {
    const others = await db
      .selectFrom('tag')
      .select((of) => of.fn.countAll<number>().as('count'))
      .where('name', '!=', name)
      .executeTakeFirstOrThrow()
    if (others.count >= MOST_TAGS)
      throw new GatewayError('invalid_request', `${MOST_TAGS} tags have limits, which is the most. Remove one first.`)
    await db
      .insertInto('tag')
      .values({ name, limits, created_at_ms: now })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ limits }))
      .execute()
  }
  await appendAudit(db, audit, now)
}
