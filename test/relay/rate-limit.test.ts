import test from 'ava'
import { openFixture } from '../support/fixture.ts'
import { ask } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'

const LIMIT = 3
const fixture = await openFixture({
  env: { SVC_RATE_LIMIT: String(LIMIT) },
  config: { limits: { failures_per_minute: 2 } },
})
test.after.always(() => fixture.close())

let keys = 0
/** A caller of its own. */
const someone = () => ({ authorization: `Bearer someone-${++keys}` })

test('rate limit: a key may send its limit at once, and receives how much is left', async (t) => {
  const headers = someone()
  for (let left = LIMIT - 1; left >= 0; left--) {
    const reply = await fixture.scenario().send({ body: ask('hi'), headers })
    t.is(reply.status, 200)
    t.is(reply.headers['ratelimit-policy'], `"key";q=${LIMIT};w=60`)
    t.regex(String(reply.headers.ratelimit), new RegExp(`^"key";r=${left};t=\\d+$`))
  }
})

test('rate limit: what is over it is refused, with the time of the next try, and reaches no provider', async (t) => {
  const headers = someone()
  const scenario = fixture.scenario()
  for (let sent = 0; sent < LIMIT; sent++) await scenario.send({ body: ask('hi'), headers })
  const reply = await scenario.send({ body: ask('hi'), headers })
  t.is(reply.status, 429)
  t.like(reply.json, { type: 'error', error: { type: 'rate_limit_error' } })
  const retryAfter = Number(reply.headers['retry-after'])
  t.true(retryAfter > 0 && retryAfter <= 60 / LIMIT)
  t.is(reply.headers['anthropic-ratelimit-requests-limit'], String(LIMIT))
  t.is(reply.headers['anthropic-ratelimit-requests-remaining'], '0')
  t.true(Date.parse(String(reply.headers['anthropic-ratelimit-requests-reset'])) > Date.now())
  t.is(scenario.seen().length, LIMIT)
})

test('rate limit: keys have limits of their own', async (t) => {
  const [one, other] = [someone(), someone()]
  for (let sent = 0; sent <= LIMIT; sent++) await fixture.scenario().send({ body: ask('hi'), headers: one })
  t.is((await fixture.scenario().send({ body: ask('hi'), headers: other })).status, 200)
})

test('rate limit: all routes of a key count together', async (t) => {
  const headers = someone()
  const { max_tokens: _, ...countable } = ask('hi')
  await fixture.scenario().send({ path: '/v1/chat/completions', body: ask('hi'), headers })
  await fixture.scenario().send({ path: '/v1/messages/count_tokens', body: countable, headers })
  const models = await fixture.scenario().send({ method: 'GET', path: '/v1/models', headers })
  t.is(models.status, 200)
  t.regex(String(models.headers.ratelimit), /r=0/)
  const chat = await fixture.scenario().send({ path: '/v1/chat/completions', body: ask('hi'), headers })
  t.is(chat.status, 429)
  t.is(valueAt(chat.json, 'error.code'), 'rate_limit_error')
})

test('rate limit: health is not counted', async (t) => {
  const headers = someone()
  for (let sent = 0; sent <= LIMIT; sent++)
    t.is((await fixture.scenario().send({ method: 'GET', path: '/health', headers })).status, 200)
})

test('rate limit: an address that fails to say who it is may not go on guessing', async (t) => {
  const statuses: number[] = []
  for (let sent = 0; sent < 3; sent++)
    statuses.push((await fixture.scenario().send({ body: ask('hi'), headers: { authorization: 'nobody' } })).status)
  t.deepEqual(statuses, [401, 401, 429])
  t.is((await fixture.scenario().send({ body: ask('hi'), headers: someone() })).status, 200)
})
