import test from 'ava'
import { mintSessionToken } from '../../src/accounts/sessions/mint.ts'
import { bearer, CLOUD, SESSION_SECRET, sessionToken } from '../support/accounts.ts'
import { eventually } from '../support/eventually.ts'
import { openFixture } from '../support/fixture.ts'
import { ask, send } from '../support/http-client.ts'
import { type JsonObject, valueAt } from '../support/json.ts'

const fixture = await openFixture({ env: { ...CLOUD, SVC_SESSION_OPERATOR_CLAIM: 'azp=operators' } })
const { url } = fixture.gateway
const pinned = { secret: SESSION_SECRET, userClaim: 'sub', issuer: undefined, audience: undefined }
const operator = await mintSessionToken({
  ...pinned,
  userId: 'op',
  azp: ['operators'],
  nowMs: Date.now(),
  ttlMs: 600_000,
})
test.after.always(() => fixture.close())

test('groups: a lead has those of the keys of the team, a viewer all', async (t) => {
  const call = async (method: string, path: string, body: JsonObject) =>
    (await send(url, { method, path: `/v1/admin/${path}`, body, headers: bearer(operator) })).json
  const team = String(valueAt(await call('POST', 'teams', { name: 'Compilers' }), 'id'))
  for (const id of ['lea', 'tim']) await call('POST', 'people', { id, name: id })
  await call('POST', 'people', { id: 'vic', name: 'Vic', role: 'viewer' })
  await call('PUT', `teams/${team}/members/lea`, { role: 'lead' })
  await call('PUT', `teams/${team}/members/tim`, { role: 'member' })
  const created = await call('POST', 'keys', { personId: 'tim', name: 'ci', teamId: team })
  const key = String(valueAt(created, 'key'))
  const reply = await fixture.scenario().send({ body: ask('five'), headers: { ...bearer(key), 'x-svc-tag': 'later' } })
  t.is(reply.status, 200, reply.text)
  const lea = await sessionToken('lea')
  const people = async (token: string) => {
    const path = '/dashboard/api/groups?by=person&tag=later'
    const { json } = await send(url, { method: 'GET', path, headers: bearer(token) })
    return (valueAt(json, 'data') as { name: string }[]).map(({ name }) => name) // safe: the test fails otherwise
  }
  await eventually(async () => (await people(lea)).length === 1, 'the row of the team')
  t.deepEqual(await people(lea), ['tim'])
  t.deepEqual(await people(await sessionToken('vic')), ['tim'])
  t.deepEqual(await people(await sessionToken('ada')), [])
  const all = await send(url, { method: 'GET', path: '/dashboard/api/groups?by=team', headers: bearer(lea) })
  t.deepEqual(
    (valueAt(all.json, 'data') as { name: string }[]).map(({ name }) => name),
    [team],
  )
})
