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
  for (const [id, name] of [
    ['lea', 'Lea'],
    ['tim', '=Tim, T.'],
    ['max', 'Max'],
  ])
    await call('POST', 'people', { id: String(id), name: String(name) })
  await call('POST', 'people', { id: 'vic', name: 'Vic', role: 'viewer' })
  await call('PUT', `teams/${team}/members/lea`, { role: 'lead' })
  await call('PUT', `teams/${team}/members/tim`, { role: 'member' })
  await call('POST', 'teams', { name: 'Others' })
  const { id: foreign } = (await call('POST', 'keys', { personId: 'max', name: 'private' })) as { id: string } // safe: else the test fails
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
  const names = async (token: string, query: string) => {
    const { json } = await send(url, { method: 'GET', path: `/dashboard/api/groups?${query}`, headers: bearer(token) })
    return valueAt(json, 'names')
  }
  const asked = `person=max&key=${foreign}&team=${team}`
  t.deepEqual(await names(lea, 'by=person'), { key: {}, person: { tim: '=Tim, T.' }, team: {} })
  t.deepEqual(await names(lea, asked), { key: {}, person: {}, team: { [team]: 'Compilers' } })
  const tim = await sessionToken('tim')
  t.deepEqual(await names(tim, `person=lea&team=${team}&key=${foreign}`), {
    key: {},
    person: {},
    team: { [team]: 'Compilers' },
  })
  t.deepEqual(await names(await sessionToken('max'), `person=tim&team=${team}`), { key: {}, person: {}, team: {} })
  t.deepEqual(await names(operator, asked), {
    key: { [foreign]: 'private' },
    person: { max: 'Max' },
    team: { [team]: 'Compilers' },
  })
  const path = `/dashboard/api/names?person=tim&person=max&key=${foreign}&team=${team}`
  const byIds = async (token: string) => (await send(url, { method: 'GET', path, headers: bearer(token) })).json
  t.deepEqual(await byIds(lea), { key: {}, person: { tim: '=Tim, T.' }, team: { [team]: 'Compilers' } })
  t.deepEqual(await byIds(operator), {
    key: { [foreign]: 'private' },
    person: { tim: '=Tim, T.', max: 'Max' },
    team: { [team]: 'Compilers' },
  })
  t.is((await send(url, { method: 'GET', path })).status, 401)
  const file = async (path: string) =>
    (await send(url, { method: 'GET', path: `/dashboard/api/${path}`, headers: bearer(lea) })).text.trim().split('\r\n')
  t.regex(String((await file('groups.csv?by=person'))[1]), /^tim,"'=Tim, T\.",1,/)
  const [head = '', row = ''] = await file('requests.csv')
  t.true(head.endsWith(',tags,key_name,user_name,team_name'), head)
  t.true(row.endsWith(`,tim,${team},later,ci,"'=Tim, T.",Compilers`), row)
  const [line = ''] = (await file('requests.jsonl')).join('').split('\n')
  t.like(JSON.parse(line), { userId: 'tim', keyName: 'ci', userName: '=Tim, T.', teamName: 'Compilers' })
})
