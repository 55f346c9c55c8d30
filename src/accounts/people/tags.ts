import type { SharedLimits } from '../../core/ports/people.ts'
import { parseFields } from '../../core/request/parse-fields.ts'
import { changedFields, limitsToJson, noteOf, toTime } from '../keys/key-records.ts'
import { tagFields, tagName } from './fields.ts'
import { type Figures, readFigures } from './figures.ts'
import type { PeopleOptions } from './people.ts'

/** A tag with limits. */
export interface TagRecord extends Figures {
  readonly name: string
  readonly limits: SharedLimits | null
  readonly createdAt: string
}

/** Administration of the limits of tags. Actors are `user:<id>` or `operator`. */
export class Tags {
  readonly #options: Omit<PeopleOptions, 'lastUsed'>

  constructor(options: Omit<PeopleOptions, 'lastUsed'>) {
    this.#options = options
  }

  /** Lists the tags that have limits, with spend and refusals. */
  async list(): Promise<TagRecord[]> {
    const { store, clock } = this.#options
    const tags = await store.tags()
    const subjects = {
      ids: tags.map(({ name }) => name),
      scopeOf: (name: string) => `tag:${name}`,
      keysOf: new Map(),
      refusedOf: ({ tags: names }: { tags: readonly string[] }) => names,
    }
    const figuresOf = await readFigures(store, subjects, clock)
    return tags.map(({ name, limits, createdAtMs }) => ({
      name,
      // Safe: they were checked when they were set.
      limits: limits === null ? null : (JSON.parse(limits) as SharedLimits),
      createdAt: toTime(createdAtMs),
      ...figuresOf(name),
    }))
  }

  /** Sets the limits of a tag; none remove it. Throws `invalid_request`. */
  async set(actor: string, given: string, body: unknown): Promise<{ name: string; limits: SharedLimits | null }> {
    const name = parseFields(tagName, given)
    const { limits } = parseFields(tagFields, body)
    const json = limitsToJson(limits)
    const details = changedFields({ limits })
    await this.#options.store.setTag({
      name,
      limits: json,
      audit: noteOf('tag.changed', { actor, accountId: `tag:${name}`, subject: name, details }),
    })
    return { name, limits: json === null ? null : limits }
  }
}
