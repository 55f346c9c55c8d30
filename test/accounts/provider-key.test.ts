import test from 'ava'
import { bearer, CLOUD, createKey } from '../support/accounts.ts'
import { OPERATOR_KEY, openFixture } from '../support/fixture.ts'
import { ask } from '../support/http-client.ts'
import { type JsonObject, valueAt } from '../support/json.ts'
import { PIPELINE } from '../support/pipelines.ts'
import { startProvider } from '../support/stand-in-provider.ts'

const OWN_KEY = 'a-key-of-the-callers-own-account-0123456789'
const substitute = await startProvider({ acceptAnything: true })
const provider = { acceptAnything: true }
const config = {
  models: { both: ['anthropic/claude-sonnet-4-5', 'substitute/model'] },
  providers: {
    tries: 1,
    forward_headers: ['x-*', 'auth*'],
    'openai-compatible': { substitute: { base_url: `${substitute.url}/v1`, api_key: 'key-of-the-substitute' } },
  },
}
const [shared, unshared] = await Promise.all([
  openFixture({ provider, config, env: { ...CLOUD, SVC_PIPELINE: PIPELINE } }),
  openFixture({ provider, config, env: { ...CLOUD, SVC_PIPELINE: PIPELINE, SVC_PROVIDERS_SHARED: 'false' } }),
])
const { key } = await createKey(shared.gateway, 'alice')
const { key: unsharedKey } = await createKey(unshared.gateway, 'alice')
test.after.always(async () => {
  await Promise.all([shared.close(), unshared.close()])
  await substitute.close()
})

let asked = 0
/** A body that no stored answer serves. */
const anotherAsk = (extra: JsonObject = {}) => ask(`question ${++asked}`, extra)

const PATHS = ['/v1/messages', '/v1/messages/count_tokens']

test('cloud: the API key never goes upstream, whatever the operator forwards', async (t) => {
  for (const path of PATHS)
    for (const headers of [bearer(key), { 'x-api-key': key }]) {
      const scenario = shared.scenario()
      t.is((await scenario.send({ path, headers, body: anotherAsk() })).status, 200)
      const [seen] = scenario.seen()
      t.is(seen?.headers['x-api-key'], OPERATOR_KEY)
      t.false(JSON.stringify(seen?.rawHeaders).includes(key))
    }
})

test('cloud: a provider key of the caller’s own is used in the place of the operator’s', async (t) => {
  for (const path of PATHS) {
    const scenario = shared.scenario()
    const headers = { ...bearer(key), 'x-provider-key': OWN_KEY }
    t.is((await scenario.send({ path, headers, body: anotherAsk() })).status, 200)
    const [seen] = scenario.seen()
    t.is(seen?.headers['x-api-key'], OWN_KEY)
    t.is(seen?.headers['x-provider-key'], undefined)
    t.is(seen?.headers.authorization, undefined)
    t.false(JSON.stringify(seen?.rawHeaders).includes(OPERATOR_KEY))
  }
})

test('cloud: it is used for that one call', async (t) => {
  const scenario = shared.scenario()
  await scenario.send({ headers: { ...bearer(key), 'x-provider-key': OWN_KEY }, body: ask('one') })
  await scenario.send({ headers: bearer(key), body: ask('two') })
  t.deepEqual(
    scenario.seen().map(({ headers }) => headers['x-api-key']),
    [OWN_KEY, OPERATOR_KEY],
  )
})

test('cloud: a substitute of another provider is not shown it', async (t) => {
  const scenario = shared.scenario({ kind: 'error', status: 500 })
  await scenario.send({ headers: { ...bearer(key), 'x-provider-key': OWN_KEY }, body: anotherAsk({ model: 'both' }) })
  t.is(scenario.seen()[0]?.headers['x-api-key'], OWN_KEY)
  const [seen] = substitute.seen
  t.is(seen?.headers.authorization, 'Bearer key-of-the-substitute')
  t.false(JSON.stringify(seen?.rawHeaders).includes(OWN_KEY))
})

test('cloud: unless the operator shares, a caller must bring a provider key', async (t) => {
  for (const path of PATHS) {
    const scenario = unshared.scenario()
    const refused = await scenario.send({ path, headers: bearer(unsharedKey), body: anotherAsk() })
    t.is(refused.status, 401)
    t.regex(String(valueAt(refused.json, 'error.message')), /x-provider-key/)
    t.is(scenario.seen().length, 0)
    const headers = { ...bearer(unsharedKey), 'x-provider-key': OWN_KEY }
    t.is((await scenario.send({ path, headers, body: anotherAsk() })).status, 200)
    t.is(scenario.seen()[0]?.headers['x-api-key'], OWN_KEY)
  }
})

test('cloud: a provider key is no API key', async (t) => {
  const scenario = shared.scenario()
  for (const headers of [
    { 'x-provider-key': OWN_KEY, authorization: undefined },
    bearer(OWN_KEY),
    bearer('sk-ant-key'),
  ])
    t.is((await scenario.send({ headers: { ...headers }, body: anotherAsk() })).status, 401)
  t.is(scenario.seen().length, 0)
})
