import { bearer, type CreatedKey, createKey, sendAs } from '../support/accounts.ts'
import { fleets } from '../support/fleet.ts'
import type { Gateway } from '../support/gateway.ts'
import { ask, type Reply, type SendOptions, send } from '../support/http-client.ts'
import { type JsonObject, valueAt } from '../support/json.ts'
import { DEFAULT_PIPELINE, FULL_PIPELINE, PIPELINE } from '../support/pipelines.ts'

let users = 0

async function limited(gateway: Gateway, limits: JsonObject | undefined, more: JsonObject = {}): Promise<CreatedKey> {
  return createKey(gateway, `limited-${++users}`, { ...more, ...(limits && { limits }) })
}

function use({ url }: Gateway, { key }: CreatedKey, { headers, ...options }: SendOptions = {}): Promise<Reply> {
  return send(url, { body: ask('hi', { model: 'demo/echo' }), ...options, headers: { ...bearer(key), ...headers } })
}

/** Costs something before it is answered. */
const PRICED = ask('hi', { model: 'claude-sonnet-4-5' })
/** In USD: less than that. */
const TINY = 0.000001

for (const fleet of fleets({ SVC_COST_PER_REQUEST: '20', SVC_COST_PER_DAY: '100' })) {
  fleet.test('a key’s requests per minute are lower than the operator’s, and counted for it alone', async (t) => {
    const { gateways } = await fleet.open()
    const [gateway] = gateways
    const key = await limited(gateway, { requestsPerMinute: 2 })
    const replies = [await use(gateway, key), await use(gateway, key), await use(gateway, key)]
    t.deepEqual(
      replies.map(({ status }) => status),
      [200, 200, 429],
    )
    t.is(replies[0]?.headers['ratelimit-policy'], '"key";q=2;w=60')
    t.is(valueAt(replies[2]?.json, 'error.type'), 'rate_limit_error')
    const other = await limited(gateway, { requestsPerMinute: 100_000 })
    t.is((await use(gateway, other)).headers['ratelimit-policy'], '"key";q=600;w=60')
  })

  fleet.test('a key asks the models that its owner has listed, and no others', async (t) => {
    const { next } = await fleet.open()
    const key = await limited(next(), { models: ['demo/echo', 'claude-haiku-*'] })
    t.is((await use(next(), key)).status, 200)
    for (const path of ['/v1/messages', '/v1/messages/count_tokens', '/v1/chat/completions']) {
      const refused = await use(next(), key, { path, body: ask('hi', { model: 'claude-opus-4-1' }) })
      t.is(refused.status, 403, path)
      t.is(valueAt(refused.json, 'error.type'), 'permission_error')
      // No credential here for either: the model was forwarded to its provider.
      for (const model of ['claude-haiku-4-5', 'anthropic/claude-haiku-4-5'])
        t.is((await use(next(), key, { path, body: ask('hi', { model }) })).status, 401, `${path} ${model}`)
    }
  })

  fleet.test('a key asks no other model by naming it elsewhere in the body', async (t) => {
    const { next } = await fleet.open()
    const key = await limited(next(), { models: ['demo/echo', 'claude-haiku-*'] })
    const opus = { model: 'claude-opus-4-1' }
    const bodies = [
      { fallbacks: [opus] },
      { tools: [{ type: 'advisor_20260301', name: 'advisor', ...opus }] },
      { models: ['claude-haiku-4-5', opus.model] },
      { plugins: [{ id: 'auto-router', allowed_models: ['*'] }] },
    ]
    for (const path of ['/v1/messages', '/v1/messages/count_tokens', '/v1/chat/completions'])
      for (const extra of bodies) {
        const refused = await use(next(), key, { path, body: ask('hi', { model: 'demo/echo', ...extra }) })
        t.is(refused.status, 403, `${path} ${JSON.stringify(extra)} ${refused.text}`)
      }
    const allowed = ask('hi', { model: 'demo/echo', fallbacks: [{ model: 'claude-haiku-4-5' }] })
    t.is((await use(next(), key, { body: allowed })).status, 200)
  })

  fleet.test('a key names the modules that its owner has listed, and no others', async (t) => {
    const { next } = await fleet.open()
    const key = await limited(next(), { modules: ['exact-cache'] })
    t.is((await use(next(), key)).headers['x-svc-pipe'], PIPELINE, 'the operator’s own is not its choice')
    t.is((await use(next(), key, { headers: { 'x-svc-pipe': 'exact-cache' } })).status, 200)
    const refused = await use(next(), key, { headers: { 'x-svc-pipe': 'exact-cache,compress' } })
    t.is(refused.status, 403)
    t.regex(refused.text, /`compress`/)
  })

  fleet.test('a key’s caps are kept, whatever pipeline is asked for', async (t) => {
    const { next } = await fleet.open()
    for (const [limits, type] of [
      [{ costPerRequest: TINY }, 'cost_limit_per_request'],
      [{ costPerDay: TINY }, 'cost_limit_per_day'],
      [{ costPerMonth: TINY }, 'cost_limit_per_month'],
    ] as const) {
      const key = await limited(next(), limits)
      for (const pipe of ['cost-guard', 'none', 'exact-cache', DEFAULT_PIPELINE, FULL_PIPELINE]) {
        const refused = await use(next(), key, { body: PRICED, headers: { 'x-svc-pipe': pipe } })
        t.is(refused.status, 429, `${pipe} ${refused.text}`)
        t.like(refused.json, { error: { type, limit: TINY } })
      }
    }
  })

  fleet.test('changed limits are those of the next request on every gateway; null takes them away', async (t) => {
    const { gateways, next } = await fleet.open()
    const user = `changing-${++users}`
    const key = await createKey(next(), user, {})
    const change = async (limits: unknown) => {
      const reply = await sendAs(user, next().url, { method: 'PATCH', path: `/v1/keys/${key.id}`, body: { limits } })
      t.is(reply.status, 200, reply.text)
      return valueAt(reply.json, 'key.limits')
    }
    for (const gateway of gateways) t.is((await use(gateway, key)).status, 200)
    t.deepEqual(await change({ models: ['x'], costPerDay: 2.5 }), { models: ['x'], costPerDay: 2.5 })
    for (const gateway of gateways) t.is((await use(gateway, key)).status, 403)
    t.is(await change(null), undefined)
    for (const gateway of gateways) t.is((await use(gateway, key)).status, 200)
  })
}

const [uncapped] = fleets()
uncapped?.test(
  'a key’s cap is kept at a gateway without caps, also in a pipeline that ran for keys without',
  async (t) => {
    const { next } = await uncapped.open()
    for (const pipe of ['none', 'exact-cache', DEFAULT_PIPELINE]) {
      const free = await use(next(), await limited(next(), undefined), {
        body: PRICED,
        headers: { 'x-svc-pipe': pipe },
      })
      t.is(free.status, 401, 'no credential for the provider, which was reached')
      const key = await limited(next(), { costPerRequest: TINY })
      const refused = await use(next(), key, { body: PRICED, headers: { 'x-svc-pipe': pipe } })
      t.is(refused.status, 429, `${pipe} ${refused.text}`)
      t.like(refused.json, { error: { type: 'cost_limit_per_request' } })
    }
  },
)
