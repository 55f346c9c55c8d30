import test from 'ava'
import { ROUTES } from '../support/door.ts'
import { openFixture } from '../support/fixture.ts'
import { ask, type SendOptions } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'

const fixture = await openFixture({
  env: { SVC_RATE_LIMIT: '1' },
  config: { server: { body_limit: '4KB' }, providers: { tries: 1 } },
})
test.after.always(() => fixture.close())

let callers = 0
const CASES: readonly [status: number, options: SendOptions][] = [
  [400, { body: '{' }],
  [401, { headers: { authorization: undefined }, body: ask('hi') }],
  [404, { path: '/v1/chat/nowhere', body: ask('hi') }],
  [405, { method: 'GET' }],
  [413, { body: ask('x'.repeat(5000)) }],
  [415, { headers: { 'content-type': 'text/plain' }, body: 'hi' }],
  [502, { body: ask('hi') }],
]

for (const [route, path] of Object.entries(ROUTES)) {
  const assertIds = (t: { is(a: unknown, b: unknown): void; regex(a: string, b: RegExp): void }, reply: Reply) => {
    t.regex(String(reply.headers['request-id']), /^req_/)
    t.is(reply.headers['x-request-id'], reply.headers['request-id'])
    t.is(valueAt(reply.json, 'request_id'), reply.headers['request-id'])
  }
  type Reply = Awaited<ReturnType<ReturnType<typeof fixture.scenario>['send']>>

  for (const [status, options] of CASES) {
    test(`request ids: ${status} on the ${route} route has the id under both names and in the body`, async (t) => {
      const scenario = fixture.scenario({ kind: 'error', status: 500 })
      const own = { authorization: `Bearer caller-${++callers}` }
      const reply = await scenario.send({ path, ...options, headers: { ...own, ...options.headers } })
      t.is(reply.status, status)
      assertIds(t, reply)
    })
  }

  test(`request ids: 429 on the ${route} route has the id under both names and in the body`, async (t) => {
    const request = { path, headers: { authorization: `Bearer caller-${++callers}` }, body: ask('hi') }
    await fixture.scenario().send(request)
    const reply = await fixture.scenario().send(request)
    t.is(reply.status, 429)
    assertIds(t, reply)
  })
}

test('request ids: a wrong method on the chat route is answered in its shape', async (t) => {
  const reply = await fixture.scenario().send({ method: 'GET', path: ROUTES.chat })
  t.like(reply.json, { error: { type: 'invalid_request', code: 'method_not_allowed', param: null } })
})

test('request ids: what is no HTTP request has one too', async (t) => {
  const reply = await fixture
    .scenario()
    .send({ method: 'GET', path: '/v1/models', headers: { 'x-large': 'x'.repeat(20_000) } })
  t.true(reply.status >= 400)
  t.is(reply.headers['x-request-id'], reply.headers['request-id'])
  t.truthy(reply.headers['request-id'])
})
