import { createServer, request as startRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'ava'
import { bearer, createKey, sendAs, sessionToken, startCloudGateway } from '../support/accounts.ts'
import type { JsonObject } from '../support/json.ts'

const BOSS = 'boss'
const gateway = await startCloudGateway({ SVC_SESSION_OPERATOR_CLAIM: `sub=${BOSS}`, SVC_RATE_LIMIT: '0' })
test.after.always('stop the gateway', () => gateway.stop())

async function done(call: string, body: JsonObject = {}): Promise<JsonObject> {
  const [method = '', path = ''] = call.split(' ')
  const reply = await sendAs(BOSS, gateway.url, { method, path, ...(method !== 'GET' && { body }) })
  if (reply.status >= 300) throw new Error(`${call}: ${reply.status} ${reply.text}`)
  return reply.json as JsonObject
}

/** Sends a body of which the last byte comes after `meanwhile`; resolves with the status. */
async function sendLate(user: string, call: string, body: JsonObject, meanwhile: () => Promise<unknown>) {
  const [method = '', path = ''] = call.split(' ')
  const text = JSON.stringify(body)
  const type = { 'content-type': 'application/json', 'content-length': text.length }
  const headers = { ...bearer(await sessionToken(user)), ...type }
  const request = startRequest(new URL(path, gateway.url), { method, headers })
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  request.on('error', reject)
  request.on('response', (response) => {
    resolve(response.statusCode ?? 0)
    response.resume()
  })
  await new Promise((written) => request.write(text.slice(0, -1), written))
  // By the reply to a later request the gateway has begun with this one.
  await sendAs(user, gateway.url, { method: 'GET', path: '/v1/keys' })
  await meanwhile()
  request.end(text.slice(-1))
  return promise
}

const CHANGES: readonly [call: string, body: JsonObject][] = [
  ['POST /v1/admin/people', { id: 'late' }],
  ['PATCH /v1/admin/people/ann', { role: 'operator' }],
  ['POST /v1/admin/people/ann/suspend', { x: 1 }],
  ['POST /v1/admin/teams', { name: 'late' }],
  ['PATCH /v1/admin/teams/TEAM', { limits: null }],
  ['PUT /v1/admin/teams/TEAM/members/ann', { role: 'lead' }],
  ['DELETE /v1/admin/teams/TEAM/members/ann', { x: 1 }],
  ['POST /v1/admin/keys', { personId: 'ann' }],
  ['PATCH /v1/admin/keys/KEY', { limits: null }],
  ['POST /v1/admin/keys/KEY/rotate', { overlapSeconds: 0 }],
  ['DELETE /v1/admin/keys/KEY', { x: 1 }],
  ['PUT /v1/admin/tags/late', { limits: { costPerDay: 1 } }],
  ['POST /dashboard/api/settings', { name: 'costs.per_day', value: 5 }],
  ['POST /dashboard/api/settings/preview', { name: 'costs.per_day', value: 5 }],
  ['PUT /dashboard/api/providers/openai/key', { apiKey: 'sk-1234567890' }],
  ['POST /dashboard/api/alerts/test', { channel: 'ops' }],
]

test('roles: a change is judged by the role at the arrival of its body, not of its headers', async (t) => {
  const { id: KEY } = await createKey(gateway, 'ann')
  const { id: TEAM } = await done('POST /v1/admin/teams', { name: 'red' })
  await done(`PUT /v1/admin/teams/${TEAM}/members/ann`, { role: 'member' })
  for (const [nth, [pattern, body]] of CHANGES.entries()) {
    const user = `demoted-${nth}`
    await done('POST /v1/admin/people', { id: user, role: 'operator' })
    const call = pattern.replace('KEY', KEY).replace('TEAM', String(TEAM))
    const demote = () => done(`PATCH /v1/admin/people/${user}`, { role: 'member' })
    t.is(await sendLate(user, call, body, demote), 403, call)
    const audited = await done(`GET /v1/admin/audit?person=${user}&limit=1`)
    t.like(audited.data, [{ action: 'access.refused' }], call)
  }
})

test('roles: a lead who loses the team while the body arrives makes no key of it', async (t) => {
  const { id } = await done('POST /v1/admin/teams', { name: 'blue' })
  for (const [person, role] of [
    ['lea', 'lead'],
    ['max', 'member'],
  ] as const) {
    await done('POST /v1/admin/people', { id: person })
    await done(`PUT /v1/admin/teams/${id}/members/${person}`, { role })
  }
  const lose = () => done(`PUT /v1/admin/teams/${id}/members/lea`, { role: 'member' })
  t.is(await sendLate('lea', 'POST /v1/admin/keys', { personId: 'max', teamId: String(id) }, lose), 403)
})

for (const [call, body] of [
  ['POST /v1/keys', { name: 'late' }],
  ['PUT /dashboard/api/capture', { hours: 1 }],
] as const)
  test(`roles: an account that is suspended while the body arrives changes nothing (${call})`, async (t) => {
    const user = call.replaceAll(/\W/g, '')
    await sendAs(user, gateway.url, { method: 'GET', path: '/v1/keys' })
    const suspend = () => done(`POST /v1/admin/people/${user}/suspend`)
    t.is(await sendLate(user, call, body, suspend), 403)
  })

test('roles: an operator who is demoted while a provider’s key is tried stores none', async (t) => {
  await done('POST /v1/admin/people', { id: 'trying', role: 'operator' })
  const asked = Promise.withResolvers<() => void>()
  const provider = createServer((_, response) => asked.resolve(() => void response.end('{"data":[]}')))
  t.teardown(() => provider.close())
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
  const { port } = provider.address() as AddressInfo // safe: it listens on a port
  const path = '/dashboard/api/providers/openai/key'
  const body = { apiKey: 'sk-1234567890', baseUrl: `http://127.0.0.1:${port}` }
  const storing = sendAs('trying', gateway.url, { method: 'PUT', path, body })
  const answer = await Promise.race([asked.promise, storing])
  if (typeof answer !== 'function') return t.fail(answer.text)
  await done('PATCH /v1/admin/people/trying', { role: 'member' })
  answer()
  const { status, text } = await storing
  t.is(status, 403, text)
})
