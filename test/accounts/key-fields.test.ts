import { bearer, createKey, sendAs, sessionToken } from '../support/accounts.ts'
import { fleets } from '../support/fleet.ts'
import { type Reply, send } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'

/** Bodies that both routes refuse, and the expected form in the reply. */
const REFUSED: readonly (readonly [body: string, expected: RegExp])[] = [
  ['{"name":5}', /name: expected a text of at most 120 characters/],
  ['{"name":null}', /name: expected a text/],
  [`{"name":"${'n'.repeat(121)}"}`, /name: expected a text of at most 120 characters/],
  ['{"name":["a"]}', /name: expected a text/],
  ['{"name":"a\\u0000b"}', /name: expected a text.*without control characters/],
  ['{"name":"\\ud800"}', /name: expected a text/],
  ['{"name":"svc_live_6ZkAAAAAAAAAAAAAAAAAAAAAAAAAAAQx0aB3xY"}', /holds a credential/],
  ['{"pipelineConfig":5}', /pipelineConfig: expected a text of at most 8000 characters/],
  [`{"pipelineConfig":"${'n'.repeat(8001)}"}`, /pipelineConfig: expected a text of at most 8000 characters/],
  ['{"pipelineConfig":"exact-cache,,cost-guard"}', /Expected a plugin name at position 12/],
  ['{"pipelineConfig":"exact-cache, Nonsense!"}', /Expected a plugin name at position 13/],
  ['{"pipelineConfig":"cost-guard,exact-cash"}', /Unknown plugin `exact-cash` at position 11.*`exact-cache`/],
  ['{"pipelineConfig":"exact-cache?ttl=soon"}', /ttl/],
  ['{"pipelineConfig":"exact-cache,exact-cache"}', /is repeated in the pipeline at position 12/],
  ['{"pipelineConfig":"\'; drop table api_key; --"}', /Expected a plugin name at position 0/],
  ['{"pipelineConfig":"__proto__"}', /Expected a plugin name at position 0/],
  ['{"pipelineConfig":"constructor"}', /Unknown plugin `constructor`/],
  ['{"hash":"x"}', /unknown field `hash`/],
  ['{"name":"a","userId":"bob"}', /unknown field `userId`/],
  ['{"__proto__":{"name":"a"}}', /unknown field `__proto__`/],
  ['{"name":"a","__proto__":{"x":1}}', /unknown field `__proto__`/],
  ['{"constructor":{"prototype":{"x":1}}}', /unknown field `constructor`/],
  ['[]', /expected a JSON object/],
  ['"name"', /expected a JSON object/],
  ['null', /expected a JSON object/],
  ['{"name":', /not valid JSON at line 1, column 9/],
  ['{"limits":5}', /limits: expected a JSON object/],
  ['{"limits":{"costPerDay":-1}}', /limits\.costPerDay: expected an amount in USD from 0/],
  ['{"limits":{"costPerDay":"5"}}', /limits\.costPerDay: expected an amount in USD/],
  ['{"limits":{"costPerDay":1e999}}', /limits\.costPerDay: expected an amount in USD/],
  ['{"limits":{"requestsPerMinute":0}}', /limits\.requestsPerMinute: expected a whole number from 1/],
  ['{"limits":{"requestsPerMinute":1.5}}', /limits\.requestsPerMinute: expected a whole number/],
  ['{"limits":{"models":"claude"}}', /limits\.models: expected a list/],
  ['{"limits":{"models":[5]}}', /limits\.models\.0: expected a text/],
  ['{"limits":{"__proto__":{}}}', /unknown field `__proto__`/],
  ['{"limits":{"admin":true}}', /limits: unknown field `admin`/],
]

for (const fleet of fleets({ SVC_RATE_LIMIT: '0' })) {
  for (const [body, expected] of REFUSED) {
    fleet.test(`${body.slice(0, 60)} is refused, with the expected form`, async (t) => {
      const { next } = await fleet.open()
      const { id } = await createKey(next(), 'fields')
      const posted = await sendAs('fields', next().url, { path: '/v1/keys', body })
      const patched = await sendAs('fields', next().url, { method: 'PATCH', path: `/v1/keys/${id}`, body })
      for (const reply of [posted, patched]) {
        t.is(reply.status, 400, reply.text)
        t.is(valueAt(reply.json, 'error.type'), 'invalid_request')
        t.regex(String(valueAt(reply.json, 'error.message')), expected)
      }
    })
  }

  fleet.test('a change of nothing is refused', async (t) => {
    const { next } = await fleet.open()
    const { id } = await createKey(next(), 'nothing')
    for (const body of ['{}', undefined]) {
      const reply = await sendAs('nothing', next().url, {
        method: 'PATCH',
        path: `/v1/keys/${id}`,
        ...(body !== undefined && { body }),
      })
      t.is(reply.status, 400)
      t.regex(reply.text, /`name`, `pipelineConfig`/)
    }
  })

  fleet.test('null clears a pipeline with PATCH, and is no pipeline with POST', async (t) => {
    const { next } = await fleet.open()
    const reply = await sendAs('nulls', next().url, { path: '/v1/keys', body: '{"pipelineConfig":null}' })
    t.is(reply.status, 400)
  })

  fleet.test('texts as long as they may be are taken as they are', async (t) => {
    const { next } = await fleet.open()
    const name = `${'é'.repeat(58)}${'😀'.repeat(30)}"'`
    const pipelineConfig = `exact-cache${' '.repeat(7989)}`
    const created = await createKey(next(), 'long', { name, pipelineConfig })
    t.like(created, { name, pipelineConfig })
    const listed = await sendAs('long', next().url, { method: 'GET', path: '/v1/keys' })
    t.like(valueAt(listed.json, 'keys.0'), { name, pipelineConfig })
  })

  fleet.test('a user’s name may be any text', async (t) => {
    const { next } = await fleet.open()
    for (const user of [
      "'; drop table account; --",
      '__proto__',
      'constructor',
      'auth0|5f7c8ec7c33c6c004bbafe82',
      '名前',
    ]) {
      await createKey(next(), user, { name: 'one' })
      const listed = await sendAs(user, next().url, { method: 'GET', path: '/v1/keys' })
      t.is((valueAt(listed.json, 'keys') as unknown[]).length, 1, user)
    }
  })

  fleet.test('a body that is not JSON by its type, or is too long, is refused', async (t) => {
    const { next } = await fleet.open()
    const headers = { ...bearer(await sessionToken('types')), 'content-type': 'text/plain' }
    t.is((await send(next().url, { path: '/v1/keys', body: '{}', headers })).status, 415)
    const body = `{"name":"${' '.repeat(200_000)}"}`
    t.is((await sendAs('types', next().url, { path: '/v1/keys', body })).status, 413)
  })

  fleet.test('a method that a route does not have is 405', async (t) => {
    const { next } = await fleet.open()
    const ways: [string, string, number][] = [
      ['PUT', '/v1/keys', 405],
      ['POST', '/v1/keys/key_0123456789abcdefghijkl', 405],
      ['GET', '/v1/keys/', 404],
    ]
    for (const [method, path, status] of ways) {
      const reply: Reply = await sendAs('methods', next().url, { method, path })
      t.is(reply.status, status, `${method} ${path}`)
    }
  })
}
