import { bearer, type CreatedKey, createKey, sendAs } from '../support/accounts.ts'
import { fleets } from '../support/fleet.ts'
import type { Gateway } from '../support/gateway.ts'
import { ask, type Reply, send } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'
import { PIPELINE } from '../support/pipelines.ts'

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

let users = 0
/** Returns a user that no other test uses. */
const newUser = () => `user-${++users}`

function use({ url }: Gateway, key: string): Promise<Reply> {
  return send(url, { body: ask('hi', { model: 'demo/echo' }), headers: bearer(key) })
}

function list({ url }: Gateway, user: string): Promise<Reply> {
  return sendAs(user, url, { method: 'GET', path: '/v1/keys' })
}

function patch({ url }: Gateway, user: string, id: string, body: object): Promise<Reply> {
  return sendAs(user, url, { method: 'PATCH', path: `/v1/keys/${id}`, body: { ...body } })
}

function revoke({ url }: Gateway, user: string, id: string): Promise<Reply> {
  return sendAs(user, url, { method: 'DELETE', path: `/v1/keys/${id}` })
}

for (const fleet of fleets({ SVC_RATE_LIMIT: '0' })) {
  fleet.test('a key is shown whole once, and its record ever after', async (t) => {
    const { next } = await fleet.open()
    const user = newUser()
    const body = { name: 'ci', pipelineConfig: 'exact-cache' }
    const created = (await sendAs(user, next().url, { path: '/v1/keys', body })) as Reply & { json: CreatedKey }
    t.is(created.status, 201)
    const { id, key, createdAt, ...rest } = created.json
    t.regex(key, /^svc_live_[0-9A-Za-z]{38}$/)
    t.regex(createdAt, ISO)
    t.deepEqual(rest, { prefix: key.slice(0, 11), ...body })
    const listed = await list(next(), user)
    t.is(listed.status, 200)
    t.deepEqual(listed.json, { keys: [{ id, createdAt, ...rest, lastUsedAt: null, revokedAt: null }] })
    t.false(listed.text.includes(key.slice(11)))
    t.is(listed.headers['cache-control'], 'no-store')
  })

  fleet.test('without a body a key has no name, and the operator’s pipeline', async (t) => {
    const { next } = await fleet.open()
    const created = await sendAs(newUser(), next().url, { path: '/v1/keys' })
    t.is(created.status, 201)
    t.deepEqual(Object.keys(created.json as object), ['id', 'key', 'prefix', 'pipelineConfig', 'createdAt'])
    t.is(valueAt(created.json, 'pipelineConfig'), null)
  })

  fleet.test('a key that was made is good on every gateway at once', async (t) => {
    const { gateways, next } = await fleet.open()
    const { key } = await createKey(next(), newUser())
    for (const gateway of gateways) t.is((await use(gateway, key)).status, 200)
  })

  fleet.test('a change is that of the next request on every gateway', async (t) => {
    const { gateways, next } = await fleet.open()
    const user = newUser()
    const { id, key, prefix, createdAt } = await createKey(next(), user, { name: 'a', pipelineConfig: 'exact-cache' })
    for (const pipelineConfig of ['cost-guard', 'none', null, 'cost-guard?per_request=0.25']) {
      const changed = await patch(next(), user, id, { pipelineConfig })
      t.is(changed.status, 200)
      t.deepEqual(changed.json, { ok: true, key: { id, prefix, name: 'a', pipelineConfig, createdAt } })
      for (const gateway of gateways) t.is((await use(gateway, key)).headers['x-svc-pipe'], pipelineConfig ?? PIPELINE)
    }
    t.like((await patch(next(), user, id, { name: 'b' })).json, {
      key: { name: 'b', pipelineConfig: 'cost-guard?per_request=0.25' },
    })
  })

  fleet.test('the header’s pipeline goes before the key’s', async (t) => {
    const { next } = await fleet.open()
    const { key } = await createKey(next(), newUser(), { pipelineConfig: 'cost-guard' })
    const headers = { ...bearer(key), 'x-svc-pipe': 'exact-cache' }
    const reply = await send(next().url, { body: ask('hi', { model: 'demo/echo' }), headers })
    t.is(reply.headers['x-svc-pipe'], 'exact-cache')
  })

  fleet.test('a revoked key is refused by the next request on every gateway, and stays in the list', async (t) => {
    const { gateways, next } = await fleet.open()
    const user = newUser()
    const { id, key } = await createKey(next(), user)
    for (const gateway of gateways) t.is((await use(gateway, key)).status, 200)
    const revoked = await revoke(next(), user, id)
    t.is(revoked.status, 204)
    t.is(revoked.text, '')
    for (const gateway of gateways) {
      const refused = await use(gateway, key)
      t.is(refused.status, 401)
      t.is(refused.headers['x-should-retry'], 'false')
      t.like(refused.json, { type: 'error', error: { type: 'authentication_error' } })
      t.regex(String(valueAt((await list(gateway, user)).json, 'keys.0.revokedAt')), ISO)
    }
  })

  fleet.test('revoking twice is harmless, and what is revoked cannot be changed', async (t) => {
    const { next } = await fleet.open()
    const user = newUser()
    const { id } = await createKey(next(), user)
    await revoke(next(), user, id)
    const before = (await list(next(), user)).json
    t.is((await revoke(next(), user, id)).status, 204)
    t.is((await patch(next(), user, id, { name: 'again' })).status, 404)
    t.deepEqual((await list(next(), user)).json, before)
  })

  fleet.test('once a revocation is answered no request that is sent later gets through', async (t) => {
    const { gateways, next } = await fleet.open()
    const user = newUser()
    let late = 0
    let early = 0
    for (let round = 0; round < 5; round++) {
      const { id, key } = await createKey(next(), user)
      let isRevoked = false
      const hammer = async (gateway: Gateway): Promise<void> => {
        for (let i = 0; i < 200; i++) {
          const wasRevoked = isRevoked
          const { status } = await use(gateway, key)
          if (wasRevoked) {
            t.is(status, 401)
            late++
            return
          }
          if (status === 200) early++
        }
      }
      const hammering = gateways.flatMap((gateway) => [hammer(gateway), hammer(gateway)])
      await use(next(), key)
      t.is((await revoke(next(), user, id)).status, 204)
      isRevoked = true
      await Promise.all(hammering)
    }
    t.true(late >= 5 && early >= 5, `${early} before, ${late} after`)
  })

  fleet.test('another user’s key is not there', async (t) => {
    const { next } = await fleet.open()
    const [owner, other] = [newUser(), newUser()]
    const { id, key } = await createKey(next(), owner, { name: 'mine' })
    for (const reply of [await patch(next(), other, id, { name: 'theirs' }), await revoke(next(), other, id)]) {
      t.is(reply.status, 404)
      t.like(reply.json, { error: { type: 'not_found' } })
    }
    t.deepEqual((await list(next(), other)).json, { keys: [] })
    t.is(valueAt((await list(next(), owner)).json, 'keys.0.name'), 'mine')
    t.is((await use(next(), key)).status, 200)
  })

  fleet.test('an id that is none is not there, whatever it holds', async (t) => {
    const { next } = await fleet.open()
    for (const id of ['x', 'key_', `key_${'a'.repeat(22)}`, '%00', "'%20OR%201=1%20--", '%E0%A4%A', 'a'.repeat(5000)])
      t.is((await revoke(next(), newUser(), id)).status, 404, id)
  })

  fleet.test('the last use is listed at once by the gateway that had it', async (t) => {
    const { gateways } = await fleet.open()
    const user = newUser()
    const { key } = await createKey(gateways[0], user)
    const before = Date.now()
    await use(gateways[0], key)
    const { lastUsedAt } = valueAt((await list(gateways[0], user)).json, 'keys.0') as { lastUsedAt: string }
    t.regex(lastUsedAt, ISO)
    t.true(Date.parse(lastUsedAt) >= before && Date.parse(lastUsedAt) <= Date.now())
  })

  fleet.test('typing mistakes, guesses and statements of SQL are refused', async (t) => {
    const { next } = await fleet.open()
    const { key } = await createKey(next(), newUser())
    const typo = key.slice(0, 20) + (key[20] === 'a' ? 'b' : 'a') + key.slice(21)
    const twin = key.slice(0, 20) + (await createKey(next(), newUser())).key.slice(20)
    const wrong = [typo, twin, key.toLowerCase(), key.slice(0, -1), `${key}a`, key.slice(4), 'svc_live_', "'OR'1'='1"]
    for (const credential of wrong) {
      const reply = await use(next(), credential)
      t.is(reply.status, 401, credential)
      t.like(reply.json, { error: { type: 'authentication_error' } })
    }
    t.is((await send(next().url, { body: ask('hi'), headers: { authorization: 'Basic abc' } })).status, 401)
    t.is(
      (await send(next().url, { body: ask('hi', { model: 'demo/echo' }), headers: { 'x-api-key': key } })).status,
      200,
    )
  })
}
