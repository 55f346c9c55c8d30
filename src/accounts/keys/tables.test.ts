import test from 'ava'
import { callRefusal } from '../plans/refusal.ts'
import { keyChangeFields, newKeyFields } from './fields.ts'
import { Keys } from './keys.ts'

const ID = `key_${'a'.repeat(22)}`
const STORED = {
  id: ID,
  prefix: 'svc_live_ab',
  name: null as string | null,
  pipelineConfig: null,
  limits: null as string | null,
  createdAtMs: 0,
  lastUsedAtMs: 1000 as number | null,
  revokedAtMs: null as number | null,
  accountId: 'u',
  teamId: null,
  tags: null,
  suspendedAtMs: null,
  expiresAtMs: null,
  previousUntilMs: null,
  createdBy: null,
  limitsBy: null,
}

/** Keys on a store that has one key, and the calls to it. */
function open(stored: Partial<typeof STORED> = {}, isThere = true) {
  const calls: { limits?: unknown; audit: { action: string; details: object; actor: string; subject: string } }[] = []
  const pipelines: string[] = []
  const record = async (call: (typeof calls)[number]) => {
    calls.push(call)
    return isThere ? { ...STORED, ...stored } : undefined
  }
  const store = { create: record, change: record, revoke: record, list: async () => [{ ...STORED, ...stored }] }
  const keys = new Keys({
    store: store as never, // safe: no other operation is used
    hashKey: (key) => `hash of ${key}`,
    lastUsed: { latest: (_: string, storedMs: number | null) => (storedMs === null ? null : storedMs + 1) },
    label: 'svc',
    most: 5,
    assertPipeline: (text) => pipelines.push(text),
  } as ConstructorParameters<typeof Keys>[0]) // safe: the members that are read
  return { keys, calls, pipelines }
}

test('keys: the fields of a key and their bounds', (t) => {
  const rows: [body: object, expected: boolean][] = [
    [{}, true],
    [{ name: 'x'.repeat(120) }, true],
    [{ name: 'x'.repeat(121) }, false],
    [{ name: 'a\u0000' }, false],
    [{ name: '\ud800' }, false],
    [{ name: 5 }, false],
    [{ pipelineConfig: 'x'.repeat(8000) }, true],
    [{ pipelineConfig: 'x'.repeat(8001) }, false],
    [{ limits: null }, true],
    [{ limits: {} }, true],
    ...(['costPerRequest', 'costPerDay', 'costPerMonth'] as const).flatMap((name): [object, boolean][] => [
      [{ limits: { [name]: 0 } }, true],
      [{ limits: { [name]: 1_000_000 } }, true],
      [{ limits: { [name]: 1_000_000.01 } }, false],
      [{ limits: { [name]: -0.01 } }, false],
      [{ limits: { [name]: '1' } }, false],
    ]),
    [{ limits: { requestsPerMinute: 1 } }, true],
    [{ limits: { requestsPerMinute: 1_000_000 } }, true],
    [{ limits: { requestsPerMinute: 0 } }, false],
    [{ limits: { requestsPerMinute: 1_000_001 } }, false],
    [{ limits: { requestsPerMinute: 1.5 } }, false],
    ...(['models', 'modules'] as const).flatMap((name): [object, boolean][] => [
      [{ limits: { [name]: Array(100).fill('x'.repeat(200)) } }, true],
      [{ limits: { [name]: Array(101).fill('x') } }, false],
      [{ limits: { [name]: ['x'.repeat(201)] } }, false],
      [{ limits: { [name]: 'x' } }, false],
    ]),
    [{ limits: { novel: 1 } }, false],
    [{ novel: 1 }, false],
  ]
  for (const [body, expected] of rows) {
    const text = JSON.stringify(body).slice(0, 80)
    t.is(newKeyFields.safeParse(body).success, expected, text)
    t.is(keyChangeFields.safeParse(body).success, expected, text)
  }
  t.false(newKeyFields.safeParse({ pipelineConfig: null }).success)
  t.true(keyChangeFields.safeParse({ pipelineConfig: null }).success, 'removes it')
})

test('keys: the record of a key has what is set, and times in UTC', async (t) => {
  const record = { id: ID, prefix: 'svc_live_ab', pipelineConfig: null, createdAt: '1970-01-01T00:00:00.000Z' }
  t.deepEqual<unknown, unknown>(await open().keys.list('u'), [
    { ...record, lastUsedAt: '1970-01-01T00:00:01.001Z', revokedAt: null },
  ])
  const stored = { name: 'n', limits: '{"costPerDay":5}', lastUsedAtMs: null, revokedAtMs: 2000 }
  t.deepEqual<unknown, unknown>(await open(stored).keys.list('u'), [
    { ...record, name: 'n', limits: { costPerDay: 5 }, lastUsedAt: null, revokedAt: '1970-01-01T00:00:02.000Z' },
  ])
})

test('keys: empty limits are none; the audit has names and numbers, no texts', async (t) => {
  const { keys, calls, pipelines } = open()
  await keys.create('u', { name: 'secret', limits: {} })
  await keys.change('u', ID, { limits: { costPerDay: 5, models: ['secret'] }, pipelineConfig: 'exact-cache' })
  await keys.change('u', ID, { limits: null })
  await keys.change('u', ID, { name: 'x' })
  await keys.change('u', ID, { pipelineConfig: null })
  await keys.revoke('u', ID)
  t.deepEqual(
    calls.map(({ limits }) => limits),
    [null, '{"costPerDay":5,"models":["secret"]}', null, undefined, undefined, undefined],
  )
  const about = { actor: 'user:u' }
  t.like(calls[0]?.audit, { ...about, action: 'key.created', details: { fields: ['name', 'limits'] } })
  t.like(calls[1]?.audit, {
    ...about,
    action: 'key.changed',
    subject: ID,
    details: { fields: ['pipelineConfig', 'limits'], limits: { costPerDay: 5 } },
  })
  t.like(calls[5]?.audit, { ...about, action: 'key.revoked', subject: ID, details: {} })
  t.notRegex(JSON.stringify(calls.map(({ audit }) => audit)), /secret/)
  t.deepEqual(pipelines, ['exact-cache'], 'only a pipeline that is set is checked')
})

test('keys: a change names one field at least, and a key of the user', async (t) => {
  await t.throwsAsync(open().keys.change('u', ID, {}), { code: 'invalid_request' })
  const { keys, calls } = open()
  for (const id of ['key_short', `${ID}x`, 'x']) {
    await t.throwsAsync(keys.change('u', id, { name: 'n' }), { code: 'not_found' })
    await t.throwsAsync(keys.revoke('u', id), { code: 'not_found' })
  }
  t.is(calls.length, 0, 'no id of that form is looked up')
  const none = open({}, false).keys
  await t.throwsAsync(none.change('u', ID, { name: 'n' }), { code: 'not_found' })
  await t.throwsAsync(none.revoke('u', ID), { code: 'not_found' })
})

test('plans: a refusal names the plan, and when there are more calls', (t) => {
  const used = { tier: 'free', reason: 'calls', includedCalls: 5 } as const
  t.like(callRefusal({ ...used, resetsAtMs: 0 } as never), {
    code: 'plan_calls_used',
    fields: { resets_at: '1970-01-01T00:00:00.000Z' },
  }) // safe: a refusal
  const later = callRefusal(used as never) // safe: a refusal
  t.deepEqual(later.fields, {})
  t.regex(later.message, /5 calls a period.*with the next paid period/)
  const credits = { tier: 'pro', reason: 'credits', neededCredits: 7, freeCredits: 3 }
  const unpaid = callRefusal(credits as never) // safe: a refusal
  t.is(unpaid.code, 'payment_required')
  t.regex(unpaid.message, /next costs 7 credits, and 3 are left/)
})
