import test from 'ava'
import { eventually } from '../support/eventually.ts'
import { openFixture } from '../support/fixture.ts'
import { ask } from '../support/http-client.ts'
import { isJsonObject, type JsonObject, parseJson, valueAt } from '../support/json.ts'

const fixture = await openFixture({ env: { SVC_PIPELINE: 'exact-cache' } })
test.after.always(() => fixture.close())

const isAboutModel = (model: string) => (entry: JsonObject) => entry.model === model

/** The log lines for which `matches` holds, once there are any. */
async function logged(matches: (entry: JsonObject) => boolean): Promise<JsonObject[]> {
  const find = () =>
    fixture.gateway
      .log()
      .split('\n')
      .map(parseJson)
      .filter((entry) => isJsonObject(entry))
      .filter(matches)
  await eventually(() => find().length > 0, 'a log line about the request')
  return find()
}

for (const stream of [false, true]) {
  test(`log: a request has one line with its usage, model, provider and pipeline (stream: ${stream})`, async (t) => {
    const model = `claude-logged-${stream}`
    const usage = {
      input_tokens: 12,
      cache_read_input_tokens: 200,
      cache_creation_input_tokens: 3000,
      output_tokens: 34,
    }
    const reply = await fixture.scenario({ kind: 'answer', usage }).send({ body: ask('hi', { model, stream }) })
    t.is(reply.status, 200)
    const lines = await logged(isAboutModel(model))
    t.is(lines.length, 1)
    t.like(lines[0], {
      level: 30,
      msg: 'request.done',
      method: 'POST',
      path: '/v1/messages',
      status: 200,
      model,
      provider: 'anthropic',
      pipe: 'exact-cache',
      tokens: { in: 3212, out: 34 },
    })
    t.true(Number(lines[0]?.ms) >= 0)
  })
}

test('log: a provider that fails is logged with its reason, and the request as failed', async (t) => {
  const model = 'claude-logged-failure'
  const scenario = fixture.scenario({ kind: 'error', status: 500, message: 'its disk is full' })
  t.is((await scenario.send({ body: ask('hi', { model }) })).status, 502)
  const [line] = await logged(isAboutModel(model))
  t.like(line, { level: 50, msg: 'request.failed', status: 502 })
  const tries = await logged(
    ({ msg, reason }) => msg === 'upstream.failed' && String(reason).includes('its disk is full'),
  )
  t.deepEqual(
    tries.map(({ attempt }) => attempt),
    [1, 2, 3],
  )
})

test('log: a stream that its client left is logged as not delivered', async (t) => {
  const model = 'claude-logged-left'
  const scenario = fixture.scenario({ kind: 'hang', at: 'after-headers' })
  const leaving = new AbortController()
  const reply = scenario.send({ body: ask('hi', { model, stream: true }), signal: leaving.signal })
  await fixture.provider.until(() => scenario.seen().length === 1)
  leaving.abort()
  await reply
  const [line] = await logged(isAboutModel(model))
  t.is(line?.delivered, false)
})

test('log: an id in the reply of the gateway is in its log line', async (t) => {
  const reply = await fixture.scenario().send({ method: 'GET', path: '/nowhere' })
  const [line] = await logged(({ requestId }) => requestId === reply.headers['request-id'])
  t.like(line, { status: 404, path: '/nowhere' })
})

test("log: the line of a relayed reply can be found by the provider's request id, which the client sees", async (t) => {
  const headers = { 'request-id': 'req_seen_by_the_client' }
  const reply = await fixture.scenario({ kind: 'answer', headers }).send({ body: ask('find me') })
  const id = String(reply.headers['request-id'])
  t.is((await logged((entry) => JSON.stringify(entry).includes(id))).length, 1)
})

test('x-svc-pipe: without it the configured pipeline runs and is named', async (t) => {
  const reply = await fixture.scenario().send({ body: ask('default pipeline') })
  t.is(reply.headers['x-svc-pipe'], 'exact-cache')
  t.is(reply.headers['x-svc-cache'], 'miss')
})

test('x-svc-pipe: overrides the pipeline for one request only', async (t) => {
  const scenario = fixture.scenario()
  const body = ask('twice without a cache')
  for (let i = 0; i < 2; i++) {
    const reply = await scenario.send({ body, headers: { 'x-svc-pipe': 'none' } })
    t.is(reply.headers['x-svc-pipe'], 'none')
    t.is(reply.headers['x-svc-cache'], undefined)
  }
  t.is(scenario.seen().length, 2)
  t.is((await scenario.send({ body })).headers['x-svc-cache'], 'miss')
  t.is((await scenario.send({ body })).headers['x-svc-cache'], 'hit')
  t.is(scenario.seen().length, 3)
})

test('x-svc-pipe: streams tell the pipeline as well', async (t) => {
  const reply = await fixture.scenario().send({ body: ask('hi', { stream: true }), headers: { 'x-svc-pipe': 'none' } })
  t.is(reply.headers['x-svc-pipe'], 'none')
})

for (const [pipe, pattern] of [
  ['exact-cash', /Unknown plugin `exact-cash` at position 0.*Did you mean `exact-cache`/],
  ['exact-cache,nothing-like-it-at-all', /nothing-like-it-at-all/],
  ['exact-cache?ttl=soon', /ttl/],
  ['exact-cache?ttl', /ttl/],
  ['exact-cache,,exact-cache', /position|empty/i],
] as const) {
  test(`x-svc-pipe: \`${pipe}\` is answered 400 and explained, and nothing is called`, async (t) => {
    const scenario = fixture.scenario()
    const reply = await scenario.send({ body: ask('hi'), headers: { 'x-svc-pipe': pipe } })
    t.is(reply.status, 400)
    t.like(reply.json, { error: { type: 'invalid_request' } })
    t.regex(String(valueAt(reply.json, 'error.message')), pattern)
    t.is(scenario.seen().length, 0)
  })
}
