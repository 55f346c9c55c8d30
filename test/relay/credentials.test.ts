import test from 'ava'
import { OPERATOR_KEY, openFixture } from '../support/fixture.ts'
import { ask, send } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'

const [withKey, withoutKey] = await Promise.all([
  openFixture({ provider: { acceptAnything: true } }),
  openFixture({ provider: { acceptAnything: true }, env: { ANTHROPIC_API_KEY: '' } }),
])
test.after.always(() => Promise.all([withKey.close(), withoutKey.close()]))

const callers = {
  'an x-api-key': { 'x-api-key': 'sk-ant-caller' },
  'a bearer of the provider’s form': { authorization: 'Bearer sk-ant-oat01-caller' },
  'any bearer': { authorization: 'Bearer anything-goes' },
  'a bearer of two words': { authorization: 'Bearer two words' },
  'a bearer in odd spelling': { authorization: 'bEaReR   anything-goes  ' },
  both: { authorization: 'Bearer anything-goes', 'x-api-key': 'sk-ant-caller' },
}
const paths = { messages: '/v1/messages', count_tokens: '/v1/messages/count_tokens' }

for (const [claim, headers] of Object.entries(callers)) {
  test(`credentials: the operator's key wins over ${claim} of the caller`, async (t) => {
    for (const path of Object.values(paths)) {
      const scenario = withKey.scenario()
      t.is((await scenario.send({ path, headers, body: ask('hi') })).status, 200)
      const [seen] = scenario.seen()
      t.is(seen?.headers['x-api-key'], OPERATOR_KEY)
      t.is(seen?.headers.authorization, undefined)
      t.notRegex(String(seen?.rawHeaders.join('\n')), /caller|anything-goes/)
    }
  })
}

test('credentials: without an own key the caller’s x-api-key is passed through', async (t) => {
  const scenario = withoutKey.scenario()
  await scenario.send({ headers: { 'x-api-key': 'sk-ant-caller' }, body: ask('hi') })
  t.like(scenario.seen()[0]?.headers, { 'x-api-key': 'sk-ant-caller', authorization: undefined })
})

test('credentials: without an own key a bearer of the provider’s form is passed through as a bearer', async (t) => {
  const scenario = withoutKey.scenario()
  await scenario.send({ headers: { authorization: 'Bearer sk-ant-oat01-caller' }, body: ask('hi') })
  t.like(scenario.seen()[0]?.headers, { authorization: 'Bearer sk-ant-oat01-caller', 'x-api-key': undefined })
})

test('credentials: a bearer of another form never reaches the provider', async (t) => {
  for (const secret of ['ghp_secret', 'sk-proj-secret', 'svc_live_secret', 'xsk-ant-secret']) {
    const scenario = withoutKey.scenario()
    await scenario.send({ headers: { authorization: `Bearer ${secret}` }, body: ask('hi') })
    t.false(
      scenario.seen().some(({ rawHeaders }) => rawHeaders.join('\n').includes('secret')),
      secret,
    )
  }
})

test('credentials: an x-api-key is passed through although there is a bearer of another form', async (t) => {
  const scenario = withoutKey.scenario()
  const headers = { authorization: 'Bearer for-the-gateway', 'x-api-key': 'sk-ant-caller' }
  await scenario.send({ headers, body: ask('hi') })
  t.like(scenario.seen()[0]?.headers, { 'x-api-key': 'sk-ant-caller', authorization: undefined })
})

test('credentials: the health probe shows whether the operator has given a key', async (t) => {
  const health = { method: 'GET', path: '/health' }
  const [one, other] = [await withKey.scenario().send(health), await withoutKey.scenario().send(health)]
  t.is(valueAt(one.json, 'providers.anthropic'), true)
  t.is(valueAt(other.json, 'providers.anthropic'), false)
})

const bad: Record<string, Record<string, string>> = {
  'no credential': { authorization: '' },
  'an empty bearer': { authorization: 'Bearer ' },
  'a scheme other than Bearer': { authorization: 'Basic dTpw' },
  'an empty x-api-key': { 'x-api-key': ' ' },
}
const routes = [
  { path: '/v1/messages', body: ask('hi') },
  { path: '/v1/messages/count_tokens', body: ask('hi') },
  { path: '/v1/models', method: 'GET' },
]

for (const [claim, headers] of Object.entries(bad)) {
  test(`credentials: ${claim} is answered 401 on every route and is not worth another try`, async (t) => {
    for (const route of routes) {
      const scenario = withKey.scenario()
      const reply = await scenario.send({ ...route, headers })
      t.is(reply.status, 401, route.path)
      t.like(reply.json, { type: 'error', error: { type: 'authentication_error' } })
      t.is(reply.headers['x-should-retry'], 'false')
      t.is(reply.headers['retry-after'], undefined)
      t.is(scenario.seen().length, 0)
    }
  })
}

test('credentials: neither keys nor prompts ever stand in the log', async (t) => {
  const key = 'CANARY1-operator'
  await using fixture = await openFixture({
    provider: { acceptAnything: true },
    env: { ANTHROPIC_API_KEY: key, LOG_LEVEL: 'debug' },
  })
  const authorization = { authorization: 'Bearer CANARY2-caller', 'x-provider-key': 'CANARY3-own', cookie: 'CANARY4' }
  const prompt = ask('CANARY5', { system: 'CANARY6', metadata: { user_id: 'CANARY7' } })
  const requests = [
    { headers: authorization, body: prompt },
    { headers: { 'x-api-key': 'CANARY8' }, body: { ...prompt, stream: true } },
    { headers: authorization, path: '/v1/messages/count_tokens', body: prompt },
    { headers: authorization, path: '/v1/messages?key=CANARY9', body: prompt },
    { headers: authorization, body: '{"messages":[{"role":"user","content":"x"}],"y":CANARY10}' },
    { headers: authorization, body: '{"model":"claude-x","max_tokens":1,"messages":"CANARY11" CANARY12' },
    { headers: authorization, body: { ...prompt, messages: 'CANARY13', temperature: 'CANARY14' } },
    { headers: authorization, body: { ...prompt, messages: [{ role: 'CANARY15', content: [{ text: 'CANARY16' }] }] } },
    { headers: { ...authorization, 'content-type': 'text/plain' }, body: 'CANARY17' },
    { headers: { authorization: 'Basic CANARY18' }, body: prompt },
  ]
  for (const request of requests) await fixture.scenario().send(request)
  const echo = { type: 'error', error: { type: 'api_error', message: 'no' }, prompt: 'CANARY19' }
  for (const status of [400, 500]) {
    await fixture.scenario({ kind: 'reply', status, body: echo }).send({ headers: authorization, body: prompt })
  }
  const broken = fixture.scenario({ kind: 'answer', text: 'CANARY20 CANARY20', cutAfterBytes: 900 })
  await broken.send({ headers: authorization, body: { ...prompt, stream: true } })
  await fixture.gateway.stop() // all is written then
  const log = fixture.gateway.log()
  t.true(log.split('\n').filter((line) => /request\.(done|failed)/.test(line)).length >= requests.length)
  t.deepEqual([...new Set(log.match(/CANARY\d+/g))], [])
})

test('credentials: without any key and with the provider’s own address, the refusal explains what to do', async (t) => {
  await using fixture = await openFixture({ env: { ANTHROPIC_API_KEY: '', ANTHROPIC_BASE_URL: '' } })
  const reply = await send(fixture.gateway.url, { body: ask('hi') })
  t.is(reply.status, 401)
  t.regex(String(valueAt(reply.json, 'error.message')), /ANTHROPIC_API_KEY.*x-api-key/)
})
