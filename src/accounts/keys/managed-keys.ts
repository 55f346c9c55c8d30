import { GatewayError } from '../../core/errors.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { ManagedKey, ManagedKeyPage, PeopleStore } from '../../core/ports/people.ts'
import { parseFields } from '../../core/request/parse-fields.ts'
import { type Figures, readFigures } from '../people/figures.ts'
import {
  type CreatedKey,
  changeKey,
  createKey,
  type KeyChangeOptions,
  type RotatedKey,
  revokeKey,
  rotateKey,
} from './change-keys.ts'
import { managedKeyChangeFields, managedKeyFields, rotationFields } from './fields.ts'
import { assertChange, type KeyRecord, recordOf, toOptionalTime } from './key-records.ts'
import type { LastUsed } from './last-used.ts'

/** Dependencies of the administration of keys. */
export interface ManagedKeysOptions extends KeyChangeOptions {
  readonly people: PeopleStore
  readonly lastUsed: Pick<LastUsed, 'latest'>
  readonly clock: Clock
}

/** A key as shown to operators and leads. */
export interface ManagedKeyRecord extends KeyRecord, Figures {
  readonly personId: string
  readonly personName: string | null
  readonly teamName: string | null
  readonly createdBy: string | null
  readonly lastUsedAt: string | null
  readonly revokedAt: string | null
}

/** Administration of the keys of all accounts. Actors are `user:<id>` or `operator`. */
export class ManagedKeys {
  readonly #options: ManagedKeysOptions

  constructor(options: ManagedKeysOptions) {
    this.#options = options
  }

  /** Lists keys with spend and refusals, newest first. */
  async list(page: ManagedKeyPage): Promise<ManagedKeyRecord[]> {
    const { people, lastUsed, clock } = this.#options
    const keys = await people.keys(page)
    const subjects = {
      ids: keys.map(({ id }) => id),
      scopeOf: (id: string) => `key:key:${id}`,
      keysOf: new Map(keys.map(({ id }) => [id, [id]])),
      refusedOf: ({ keyId }: { keyId: string | null }) => [keyId],
    }
    const figuresOf = await readFigures(people, subjects, clock)
    return keys.map((key) => ({
      ...recordOf(key),
      personId: key.accountId,
      personName: key.personName,
      teamName: key.teamName,
      createdBy: key.createdBy,
      lastUsedAt: toOptionalTime(lastUsed.latest(key.id, key.lastUsedAtMs)),
      revokedAt: toOptionalTime(key.revokedAtMs),
      ...figuresOf(key.id),
    }))
  }

  /** Returns the owner and team of a key; `undefined` when there is none of this id. */
  async find(id: string): Promise<Pick<ManagedKey, 'accountId' | 'teamId'> | undefined> {
    const [key] = await this.#options.people.keys({ id, limit: 1 })
    return key
  }

  /** Parses the body of a new key, for the check of the role. Throws `invalid_request`. */
  parse(body: unknown) {
    return parseFields(managedKeyFields, body)
  }

  /** Creates a key for a person. Throws `invalid_request`, `permission_error`. */
  async create(actor: string, { personId, ...fields }: ReturnType<ManagedKeys['parse']>): Promise<CreatedKey> {
    const [person] = await this.#options.people.people({ id: personId, limit: 1 })
    if (person === undefined)
      throw new GatewayError('invalid_request', `personId: there is no account \`${personId}\`.`)
    return createKey(this.#options, { ...fields, accountId: personId, actor, isManaged: true })
  }

  /** Returns a key. Throws `not_found`. */
  async show(id: string): Promise<ManagedKeyRecord> {
    const [key] = await this.list({ id, limit: 1 })
    return key ?? missing(id)
  }

  /** Parses the body of a change, for the check of the role. Throws `invalid_request`. */
  parseChange(body: unknown) {
    return parseFields(managedKeyChangeFields, body)
  }

  /** Changes a key. Throws `invalid_request`, `not_found`. */
  async change(actor: string, id: string, fields: ReturnType<ManagedKeys['parseChange']>): Promise<KeyRecord> {
    assertChange(fields, ['name', 'pipelineConfig', 'limits', 'teamId', 'tags', 'expiresAt'])
    return changeKey(this.#options, { ...fields, ...(await this.#owned(id)), actor, isManaged: true })
  }

  /** Gives a key a new secret. Throws `invalid_request`, `not_found`. */
  async rotate(actor: string, id: string, body: unknown): Promise<RotatedKey> {
    const { overlapSeconds } = parseFields(rotationFields, body)
    return rotateKey(this.#options, { ...(await this.#owned(id)), actor, overlapSeconds })
  }

  /** Suspends or resumes a key. Throws `not_found`. */
  async suspend(actor: string, id: string, isSuspended: boolean): Promise<KeyRecord> {
    return changeKey(this.#options, { ...(await this.#owned(id)), actor, isSuspended })
  }

  /** Revokes a key. Throws `not_found`. */
  async revoke(actor: string, id: string): Promise<void> {
    await revokeKey(this.#options, { ...(await this.#owned(id)), actor })
  }

  async #owned(id: string): Promise<{ id: string; accountId: string }> {
    const key = (await this.find(id)) ?? missing(id)
    return { id, accountId: key.accountId }
  }
}

function missing(id: string): never {
  throw new GatewayError('not_found', `There is no key \`${id}\`.`)
}
