import type { Reply } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'

/** Sends a request of an operator. */
export type Call = (method: string, path: string, body?: object) => Promise<Reply>

const PEOPLE = '/v1/admin/people'
const TEAMS = '/v1/admin/teams'
const KEYS = '/v1/admin/keys'

/** Calls every route of the administration, and yields the route as documented with its reply. */
export async function* adminCalls(call: Call): AsyncGenerator<[route: string, reply: Reply]> {
  yield [`post ${PEOPLE}`, await call('POST', PEOPLE, { id: 'grace', name: 'Grace' })]
  yield [`patch ${PEOPLE}/{id}`, await call('PATCH', `${PEOPLE}/grace`, { limits: { costPerDay: 5 } })]
  const team = await call('POST', TEAMS, { name: 'Compilers' })
  yield [`post ${TEAMS}`, team]
  const teamPath = `${TEAMS}/${valueAt(team.json, 'id')}`
  yield [`patch ${TEAMS}/{id}`, await call('PATCH', teamPath, { limits: { costPerMonth: 50 } })]
  yield [`put ${TEAMS}/{id}/members/{person}`, await call('PUT', `${teamPath}/members/grace`, { role: 'lead' })]
  const fields = { personId: 'grace', name: 'ci', teamId: valueAt(team.json, 'id'), tags: ['ci'] }
  const key = await call('POST', KEYS, fields)
  yield [`post ${KEYS}`, key]
  const keyPath = `${KEYS}/${valueAt(key.json, 'id')}`
  yield [`patch ${KEYS}/{id}`, await call('PATCH', keyPath, { expiresAt: '2999-01-01T00:00:00Z' })]
  yield [`post ${KEYS}/{id}/rotate`, await call('POST', `${keyPath}/rotate`)]
  for (const action of ['suspend', 'resume']) {
    yield [`post ${KEYS}/{id}/${action}`, await call('POST', `${keyPath}/${action}`)]
    yield [`post ${PEOPLE}/{id}/${action}`, await call('POST', `${PEOPLE}/grace/${action}`)]
  }
  yield ['put /v1/admin/tags/{name}', await call('PUT', '/v1/admin/tags/ci', { limits: { costPerDay: 1 } })]
  for (const path of [PEOPLE, TEAMS, KEYS, '/v1/admin/tags', '/v1/admin/audit'])
    yield [`get ${path}`, await call('GET', path)]
  yield [`get ${PEOPLE}/{id}`, await call('GET', `${PEOPLE}/grace`)]
  yield [`get ${TEAMS}/{id}`, await call('GET', teamPath)]
  yield [`get ${KEYS}/{id}`, await call('GET', keyPath)]
  yield [`delete ${TEAMS}/{id}/members/{person}`, await call('DELETE', `${teamPath}/members/grace`)]
  yield [`delete ${KEYS}/{id}`, await call('DELETE', keyPath)]
}
