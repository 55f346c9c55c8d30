import test from 'ava'
import { bearer, CLOUD, type CreatedKey, sendAs } from '../support/accounts.ts'
import { type JsonObject, valueAt } from '../support/json.ts'
import { MODELS, openProviderFixture } from '../support/provider-fixture.ts'
import { open } from './socket-client.ts'

/*
 * A socket may be open for an hour: each of its requests needs a key that is in force when the request is made.
 */
const BOSS = 'boss'
const fixture = await openProviderFixture({ env: { ...CLOUD, SVC_SESSION_OPERATOR_CLAIM: `sub=${BOSS}` } })
test.after.always(() => fixture.close())

/** Sends a request as the operator, which is expected to succeed, and returns its reply's body. */
async function admin<Body = JsonObject>(call: string, body?: JsonObject): Promise<Body> {
  const [method = 'GET', rest = ''] = call.split(' ')
  const reply = await sendAs(BOSS, fixture.gateway.url, { method, path: `/v1/admin/${rest}`, ...(body && { body }) })
  if (reply.status >= 300) throw new Error(`${call}: ${reply.status} ${reply.text}`)
  return reply.json as Body
}

interface Owned {
  readonly person: string
  readonly id: string
}

const changes: [
  name: string,
  change: (owned: Owned) => Promise<unknown>,
  refusal: { status: number; words: RegExp },
  undo?: (owned: Owned) => Promise<unknown>,
][] = [
  [
    'whose key is suspended',
    ({ id }) => admin(`POST keys/${id}/suspend`, {}),
    { status: 403, words: /API key is suspended/ },
    ({ id }) => admin(`POST keys/${id}/resume`, {}),
  ],
  [
    'whose person is suspended',
    ({ person }) => admin(`POST people/${person}/suspend`, {}),
    { status: 403, words: /account is suspended/ },
    ({ person }) => admin(`POST people/${person}/resume`, {}),
  ],
  ['whose key is revoked', ({ id }) => admin(`DELETE keys/${id}`), { status: 401, words: /revoked/ }],
  [
    'whose key is rotated without an overlap',
    ({ id }) => admin(`POST keys/${id}/rotate`, { overlapSeconds: 0 }),
    { status: 401, words: /was rotated/ },
  ],
]

for (const [index, [name, change, { status, words }, undo]] of changes.entries())
  test(`socket: the next request of a socket ${name} is refused with the reason`, async (t) => {
    const person = `p${index}`
    await admin('POST people', { id: person })
    const { id, key } = await admin<CreatedKey>('POST keys', { personId: person })
    const scenario = fixture.scenario()
    await using client = await open(fixture.gateway.url, { ...scenario.headers, ...bearer(key) })
    const create = (input: string) => client.ask({ model: MODELS.anthropic, input })
    t.is((await create('first')).at(-1)?.type, 'response.completed')
    await change({ person, id })
    for (let i = 0; i < 2; i++) {
      const [refused] = await create(`refused ${i}`)
      t.like(refused, { type: 'error', status })
      t.regex(String(valueAt(refused, 'error.message')), words)
    }
    t.is(scenario.seen('anthropic').length, 1)
    if (undo === undefined) return
    await undo({ person, id })
    t.is((await create('in force again')).at(-1)?.type, 'response.completed')
  })
