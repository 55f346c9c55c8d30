import test from 'ava'
import { bearer, CLOUD, createKey, sessionToken } from '../support/accounts.ts'
import { eventually } from '../support/eventually.ts'
import { openFixture } from '../support/fixture.ts'
import { ask, send } from '../support/http-client.ts'
import { FULL_PIPELINE } from '../support/pipelines.ts'

/*
 * Eve has an account and a key of her own, and knows every id that Alice has. Each door that shows something of requests
 * is tried with all of them. What caches give is tested for each cache: `test/exact-cache/scope.test.ts` (stored and running
 * replies), `test/semantic-cache/scope.test.ts`; bodies and the live feed in `test/dashboard/cloud.test.ts` as well.
 */

const SECRET = 'alices-own-words'
const fixture = await openFixture({
  provider: { acceptAnything: true },
  env: { ...CLOUD, SVC_PIPELINE: FULL_PIPELINE, SVC_METRICS_TOKEN: 'token-of-the-operator' },
})
const { url } = fixture.gateway

const alice = await createKey(fixture.gateway, 'alice', { name: SECRET })
const eve = await createKey(fixture.gateway, 'eve')
const [aliceToken, eveToken] = await Promise.all(['alice', 'eve'].map(sessionToken))
const get = (path: string, credential: string | undefined, headers = {}) =>
  send(url, { method: 'GET', path, headers: { ...bearer(credential ?? ''), ...headers } })

await send(url, {
  method: 'PUT',
  path: '/dashboard/api/capture',
  body: { hours: 1 },
  headers: bearer(aliceToken ?? ''),
})
const asked = await fixture
  .scenario({ kind: 'answer', text: SECRET })
  .send({ body: ask(SECRET, { model: `claude-${SECRET}` }), headers: bearer(alice.key) })
const receipt = String(asked.headers['x-svc-receipt'])
const request = String(asked.headers['request-id'])
await eventually(async () => (await get(`/dashboard/api/requests/${receipt}`, aliceToken)).status === 200, 'a row')
test.after.always(() => fixture.close())

test('tenants: Alice sees her own, so that there is something to see', async (t) => {
  t.is(asked.status, 200)
  for (const path of ['/dashboard/api/requests', '/dashboard/api/requests.csv', `/dashboard/api/requests/${receipt}`])
    t.regex((await get(path, aliceToken)).text, new RegExp(SECRET), path)
  t.is((await get(`/v1/receipts/${receipt}`, alice.key)).status, 200)
})

for (const [who, credential] of Object.entries({ key: eve.key, session: eveToken }))
  test(`tenants: with her ${who} Eve finds nothing of Alice's, by any id and on any page`, async (t) => {
    const ids = [receipt, request, alice.id, `key:${alice.id}`, 'alice', SECRET]
    const doors = ids.flatMap((id) => [
      ...[`/v1/receipts/${id}`, `/v1/receipts?after=${id}`, `/v1/keys/${id}`, `/dashboard/api/requests/${id}`],
      ...[
        `/dashboard/api/requests?after=${id}`,
        `/dashboard/api/requests?text=${id}`,
        `/dashboard/api/requests.csv?text=${id}`,
      ],
      ...[
        `/v1/receipts?scope=${id}`,
        `/v1/receipts?user=${id}`,
        `/dashboard/api/overview?scope=${id}`,
        `/v1/billing/balance?user=${id}`,
      ],
    ])
    const pages = [
      '/v1/receipts',
      '/v1/keys',
      '/v1/models',
      '/v1/billing/balance',
      '/dashboard/api/session',
      '/dashboard/api/requests',
      '/dashboard/api/requests.csv',
      '/dashboard/api/overview',
      '/dashboard/api/settings',
      '/dashboard/api/plugins',
      '/dashboard/api/capture',
      '/metrics',
      '/health',
    ]
    for (const door of [...doors, ...pages]) {
      const reply = await get(door, credential)
      // Her own requests may be repeated to her.
      for (const id of [receipt, request, alice.id, SECRET])
        t.true(door.includes(id) || !reply.text.includes(id), `${door} tells ${reply.text.slice(0, 200)}`)
    }
  })

test('tenants: Eve can change nothing of Alice’s', async (t) => {
  for (const [method, body] of [
    ['PATCH', { name: 'x' }],
    ['DELETE', undefined],
  ] as const)
    for (const credential of [eveToken, eve.key]) {
      const options = { method, path: `/v1/keys/${alice.id}`, headers: bearer(credential ?? '') }
      const { status } = await send(url, body === undefined ? options : { ...options, body })
      t.true([401, 404].includes(status) || (method === 'DELETE' && status === 204), `${method} ${status}`)
    }
  const feedback = {
    path: '/v1/semantic-cache/feedback',
    body: { receipt, verdict: 'wrong' },
    headers: bearer(eve.key),
  }
  t.true((await send(url, feedback)).status >= 400)
  t.is((await fixture.scenario().send({ body: ask('still'), headers: bearer(alice.key) })).status, 200)
})

test('tenants: a reply to Alice is not given to Eve by any cache, stored or on its way', async (t) => {
  let release = () => {}
  const until = new Promise<void>((resolve) => {
    release = resolve
  })
  const slow = fixture.scenario({ kind: 'answer', text: SECRET, before: { until } })
  const body = ask('the same question of both', { temperature: 0 })
  const hers = slow.send({ body, headers: bearer(alice.key) })
  await fixture.provider.until(() => slow.seen().length === 1)
  const quick = fixture.scenario({ kind: 'answer', text: 'for Eve' })
  const eves = await quick.send({ body, headers: bearer(eve.key) })
  release()
  await hers
  const again = await quick.send({ body, headers: bearer(eve.key) })
  for (const { text, headers } of [eves, again]) {
    t.regex(text, /for Eve/)
    t.not(headers['x-svc-receipt'], (await hers).headers['x-svc-receipt'])
  }
})

test('tenants: the live feed shows Eve her own requests alone', async (t) => {
  const leaving = new AbortController()
  let heard = ''
  const feed = send(url, {
    method: 'GET',
    path: '/dashboard/api/live',
    headers: { ...bearer(eveToken ?? ''), 'last-event-id': '0' },
    signal: leaving.signal,
    onChunk: (chunk) => {
      heard += chunk
    },
  })
  await fixture.scenario().send({ body: ask(SECRET), headers: bearer(alice.key) })
  const { headers } = await fixture.scenario().send({ body: ask('mine'), headers: bearer(eve.key) })
  await eventually(async () => heard.includes(String(headers['x-svc-receipt'])), 'her own request')
  leaving.abort()
  await feed
  t.false(heard.includes(SECRET) || heard.includes(alice.id))
})

test('tenants: metrics of the operator name no account, key or receipt', async (t) => {
  const { status, text } = await get('/metrics', 'token-of-the-operator')
  t.is(status, 200)
  for (const id of [receipt, request, alice.id, eve.id, 'alice', alice.key.slice(12)])
    t.false(text.includes(`"${id}`), id)
})
