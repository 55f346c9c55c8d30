import test from 'ava'
import { bearer, CLOUD, createKey, sendAs } from '../support/accounts.ts'
import { openFixture } from '../support/fixture.ts'
import { ask, send } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'
import { PIPELINE } from '../support/pipelines.ts'

const FAILURES = 3
const fixture = await openFixture({
  env: { ...CLOUD, SVC_RATE_LIMIT: '2', SVC_PIPELINE: PIPELINE },
  config: { limits: { failures_per_minute: FAILURES } },
})
test.after.always(() => fixture.close())

const { gateway } = fixture
const body = ask('hi')
const use = (headers: Record<string, string>) => send(gateway.url, { body, headers })

// One after another: they share the address that fails.
test.serial('credentials: a valid x-api-key is accepted beside a junk bearer', async (t) => {
  const { key } = await createKey(gateway, 'alice')
  t.is((await use({ ...bearer('placeholder'), 'x-api-key': key })).status, 200)
  const other = await createKey(gateway, 'alice')
  t.is((await use({ ...bearer(other.key), 'x-api-key': 'placeholder' })).status, 200)
})

test.serial('credentials: of two keys the bearer counts', async (t) => {
  const [revoked, valid] = [await createKey(gateway, 'bob'), await createKey(gateway, 'bob')]
  await sendAs('bob', gateway.url, { method: 'DELETE', path: `/v1/keys/${revoked.id}` })
  t.is((await use({ ...bearer(revoked.key), 'x-api-key': valid.key })).status, 401)
})

test.serial('credentials: a low rate limit of requests does not slow the routes of keys', async (t) => {
  const statuses: number[] = []
  for (let sent = 0; sent < 6; sent++)
    statuses.push((await sendAs('carol', gateway.url, { method: 'GET', path: '/v1/keys' })).status)
  t.deepEqual(new Set(statuses), new Set([200]))
})

test.serial('credentials: a revoked key is 401, however often its address has failed', async (t) => {
  const { id, key } = await createKey(gateway, 'dave')
  await sendAs('dave', gateway.url, { method: 'DELETE', path: `/v1/keys/${id}` })
  for (let sent = 0; sent < FAILURES; sent++) await use(bearer('a guess'))
  t.is((await use(bearer('a guess'))).status, 429)
  for (let sent = 0; sent <= FAILURES; sent++) {
    const reply = await use(bearer(key))
    t.is(reply.status, 401)
    t.is(valueAt(reply.json, 'error.type'), 'authentication_error')
    t.is(reply.headers['x-should-retry'], 'false')
  }
})
