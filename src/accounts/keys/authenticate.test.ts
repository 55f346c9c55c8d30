import test from 'ava'
import { GatewayError } from '../../core/errors.ts'
import type { KeyInUse } from '../../core/ports/keys.ts'
import { createAuthenticateKey } from './authenticate.ts'
import { createKey } from './key-format.ts'
import { createKeyHash } from './key-hash.ts'

const FOUND: KeyInUse = {
  id: 'key_1',
  hash: '',
  accountId: 'alice',
  pipelineConfig: 'none',
  limits: null,
  tags: null,
  revokedAtMs: null,
  keySuspendedAtMs: null,
  expiresAtMs: null,
  previousUntilMs: null,
  tier: 'pro',
  suspendedAtMs: null,
  personLimits: null,
  teamId: null,
  teamLimits: null,
  tagLimits: null,
}

function open(find: (hash: string) => KeyInUse | undefined | Promise<KeyInUse | undefined>) {
  const clock = { at: 0, nowMs: () => clock.at }
  const asked: string[] = []
  const used: string[] = []
  const lookup = {
    find: (hash: string) => {
      asked.push(hash)
      const current = (row: KeyInUse | undefined) => row && { ...row, hash: row.hash || hash }
      const found = find(hash)
      return found instanceof Promise ? found.then(current) : current(found)
    },
    close() {},
  }
  const hashKey = createKeyHash(undefined)
  const authenticate = createAuthenticateKey({ lookup, hashKey, clock, onUse: (id) => used.push(id) })
  return { authenticate, asked, used, clock }
}

const refusal = { instanceOf: GatewayError, code: 'authentication_error' }

test('keys: the database is queried for each request, and never for text that cannot be a key', async (t) => {
  const { authenticate, asked, used } = open(() => FOUND)
  const key = createKey('svc')
  for (let i = 0; i < 3; i++) await authenticate(key)
  t.is(asked.length, 3)
  t.deepEqual(used, ['key_1', 'key_1', 'key_1'])
  for (const wrong of ['', 'x', key.slice(0, -1), `${key.slice(0, -1)}${key.endsWith('a') ? 'b' : 'a'}`])
    t.throws(() => authenticate(wrong), refusal)
  t.is(asked.length, 3)
})

test('keys: the caller is the key’s account, in a scope of the key', async (t) => {
  const limits = { models: ['m'], costPerDay: 1 }
  const { authenticate } = open(() => ({ ...FOUND, limits: JSON.stringify(limits) }))
  t.deepEqual(await authenticate(createKey('svc')), {
    caller: { kind: 'key', scope: 'key:key_1', keyId: 'key_1', userId: 'alice', tier: 'pro', limits },
    pipelineConfig: 'none',
  })
})

for (const kind of ['at once', 'later'] as const) {
  const answer = (found: KeyInUse | undefined) => (kind === 'later' ? Promise.resolve(found) : found)

  test(`keys: an unknown or revoked one is not queried again at once (answered ${kind})`, async (t) => {
    for (const [found, code] of [
      [undefined, 'authentication_error'],
      [{ ...FOUND, revokedAtMs: 1 }, 'key_revoked'],
    ] as const) {
      const { authenticate, asked, used, clock } = open(() => answer(found))
      const key = createKey('svc')
      for (let i = 0; i < 5; i++) await t.throwsAsync(async () => authenticate(key), { code })
      t.is(asked.length, 1)
      clock.at = 5001
      await t.throwsAsync(async () => authenticate(key), { code })
      t.is(asked.length, 2)
      t.deepEqual(used, [])
    }
  })
}

test('keys: a refused key does not affect another with the same beginning', async (t) => {
  const known = createKey('svc')
  const hash = createKeyHash(undefined)(known)
  const { authenticate } = open((asked) => (asked === hash ? FOUND : undefined))
  let twin = ''
  // The beginning of one, the checksum of the whole.
  for (let i = 0; twin === ''; i++) {
    const made = createKey('svc')
    if (made[9] === known[9] || i > 500) twin = made
  }
  t.throws(() => authenticate(twin), refusal)
  t.is((await authenticate(known)).caller.keyId, 'key_1')
})

test('keys: a suspended account is accepted again at the first request after it is resumed', async (t) => {
  let suspendedAtMs: number | null = 1
  const { authenticate } = open(() => ({ ...FOUND, suspendedAtMs }))
  const key = createKey('svc')
  t.throws(() => authenticate(key), { instanceOf: GatewayError, code: 'permission_error' })
  suspendedAtMs = null
  t.is((await authenticate(key)).caller.userId, 'alice')
})

test('keys: the cache of unknown keys is bounded', (t) => {
  const { authenticate, asked } = open(() => undefined)
  const keys = Array.from({ length: 10_050 }, () => createKey('svc'))
  for (const key of keys) t.throws(() => authenticate(key), refusal)
  t.throws(() => authenticate(keys[0] ?? ''), refusal)
  t.is(asked.length, 10_051, 'the first was evicted')
})

test('keys: with a pepper the hash differs', (t) => {
  const key = createKey('svc')
  const hashes = [undefined, 'pepper one', 'pepper two'].map((pepper) => createKeyHash(pepper)(key))
  t.is(new Set(hashes).size, 3)
  for (const hash of hashes) t.is(hash.length, 43)
})

test('keys: an expired or suspended one is refused by its own words, and accepted again when that is undone', async (t) => {
  let changed: Partial<KeyInUse> = {}
  const { authenticate, clock } = open(() => ({ ...FOUND, ...changed }))
  const key = createKey('svc')
  clock.at = 1000
  const rows: [changed: Partial<KeyInUse>, code: string | undefined, message?: RegExp][] = [
    [{ expiresAtMs: 1001 }, undefined],
    [{ expiresAtMs: 1000 }, 'key_expired', /expired at 1970-01-01T00:00:01\.000Z/],
    [{ keySuspendedAtMs: 1 }, 'permission_error', /API key is suspended/],
    [{ hash: 'newer', previousUntilMs: 1001 }, undefined],
    [{ hash: 'newer', previousUntilMs: 1000 }, 'key_expired', /was rotated/],
    [{ hash: 'newer', previousUntilMs: null }, 'key_expired', /was rotated/],
    [{}, undefined],
  ]
  for (const row of rows) {
    changed = row[0]
    if (row[1] === undefined) t.is((await authenticate(key)).caller.keyId, 'key_1')
    else t.throws(() => authenticate(key), { code: row[1], message: row[2] ?? '' })
  }
})

test('keys: the caller has the limits of its person, its team and all tags', async (t) => {
  const { authenticate } = open(() => ({
    ...FOUND,
    tags: '["ci"]',
    teamId: 'team_1',
    teamLimits: '{"costPerDay":50}',
    personLimits: '{"requestsPerMinute":5}',
    tagLimits: 'ci {"costPerDay":1}\nweb {"costPerMonth":2}',
  }))
  t.like((await authenticate(createKey('svc'))).caller, {
    teamId: 'team_1',
    tags: ['ci'],
    teamLimits: { costPerDay: 50 },
    personLimits: { requestsPerMinute: 5 },
    tagLimits: { ci: { costPerDay: 1 }, web: { costPerMonth: 2 } },
  })
})

test('keys: requests have the same caller until its row, or a limit of a tag, changes', async (t) => {
  let row: KeyInUse = FOUND
  const { authenticate } = open(() => ({ ...row }))
  const key = createKey('svc')
  const callerNow = async () => (await authenticate(key)).caller
  const changes: Partial<KeyInUse>[] = [
    ...[{ limits: '{"costPerDay":1}' }, { limits: '{"costPerDay":2}' }, { tags: '["a"]' }, { tier: 'free' }],
    ...[{ personLimits: '{}' }, { teamId: 'team_1' }, { teamLimits: '{}' }, { tagLimits: 'a {"costPerDay":1}' }],
    ...[{ tagLimits: 'a {"costPerDay":3}' }, { tagLimits: null }, { accountId: 'bob' }],
  ]
  for (const change of changes) {
    const before = await callerNow()
    t.is(await callerNow(), before)
    row = { ...row, ...change }
    t.not(await callerNow(), before, JSON.stringify(change))
  }
})
