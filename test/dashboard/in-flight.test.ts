import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test from 'ava'
import { mintSessionToken } from '../../src/accounts/sessions/mint.ts'
import { bearer, CLOUD, createKey, SESSION_SECRET, sendAs, sessionToken } from '../support/accounts.ts'
import { eventually } from '../support/eventually.ts'
import { openFixture } from '../support/fixture.ts'
import { queryGateway } from '../support/gateway-database.ts'
import { ask, send } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'
import { holdEvent } from '../support/provider/script.ts'

/*
 * Requests in flight: their owner and operators see and end them, others do not know of them.
 */
const dataDir = await mkdtemp(path.join(tmpdir(), 'turnpike-in-flight-'))
const env = { ...CLOUD, SVC_SESSION_OPERATOR_CLAIM: 'azp=operators', SVC_DATA_DIR: dataDir }
const fixture = await openFixture({ env })
const { url } = fixture.gateway
const { key, id: keyId } = await createKey({ url }, 'ada')
await sendAs('ada', url, { method: 'PATCH', path: `/v1/keys/${keyId}`, body: { limits: { costPerDay: 5 } } })
const pinned = { secret: SESSION_SECRET, userClaim: 'sub', issuer: undefined, audience: undefined }
const tokens = {
  ada: await sessionToken('ada'),
  ben: await sessionToken('ben'),
  operator: await mintSessionToken({ ...pinned, userId: 'op', azp: ['operators'], nowMs: Date.now(), ttlMs: 600_000 }),
}
test.after.always(async () => {
  await fixture.close()
  await rm(dataDir, { recursive: true, force: true })
})

type Who = keyof typeof tokens
const listed = async (who: Who) => {
  const { json } = await send(url, { method: 'GET', path: '/dashboard/api/in-flight', headers: bearer(tokens[who]) })
  return valueAt(json, 'data') as { id: string; keyId: string; state: string }[] // safe: the test fails otherwise
}
const end = async (who: Who, id: string) =>
  (await send(url, { method: 'DELETE', path: `/dashboard/api/in-flight/${id}`, headers: bearer(tokens[who]) })).status

/** Returns the id of the one request in flight, once it is in this state. */
async function inState(state: string): Promise<string> {
  await eventually(async () => (await listed('ada'))[0]?.state === state, `a request in state ${state}`)
  return (await listed('ada'))[0]?.id ?? ''
}

async function row(id: string) {
  const find = async () => {
    const path = `/dashboard/api/requests/${id}`
    return (await send(url, { method: 'GET', path, headers: bearer(tokens.ada) })).json
  }
  await eventually(async () => valueAt(await find(), 'request.id') !== undefined, `a row of ${id}`)
  return valueAt(await find(), 'request') as Record<string, unknown> // safe: it was there a moment ago
}

const openHolds = () => queryGateway(dataDir, `select id from spend_hold where state = 'open'`)

const BODIES = {
  '/v1/messages': ask('Wait.'),
  '/v1/chat/completions': { model: 'claude-sonnet-4-5', messages: [{ role: 'user', content: 'Wait.' }] },
  '/v1/responses': { model: 'claude-sonnet-4-5', input: 'Wait.' },
}
const WORDS = /request_ended: .*ended by the owner of its key/

for (const [at, body] of Object.entries(BODIES))
  test.serial(`in flight: ${at} gets an error in its dialect, and its provider's call is over`, async (t) => {
    const hanging = fixture.scenario({ kind: 'hang', at: 'before-headers' })
    const before = hanging.send({ path: at, body, headers: bearer(key) })
    const waiting = await inState('provider')
    t.deepEqual(await listed('ben'), [])
    t.is(await end('ben', waiting), 404)
    t.is(await end('ada', waiting), 204)
    const refused = await before
    t.is(refused.status, 403, refused.text)
    t.regex(String(valueAt(refused.json, 'error.message')), WORDS)
    t.is(refused.headers['x-should-retry'], 'false')
    await fixture.assertSound(t, hanging)

    const { promise: never } = Promise.withResolvers<void>()
    const streaming = fixture.scenario({ kind: 'answer', writes: holdEvent(4, never) })
    const begun = streaming.send({ path: at, body: { ...body, stream: true }, headers: bearer(key) })
    const running = await inState('reply')
    t.is(await end('operator', running), 204)
    const broken = await begun
    t.is(broken.status, 200)
    const last = broken.text.split('\n').findLast((line) => line.startsWith('data: {')) ?? ''
    t.regex(last, /error/)
    t.regex(last, /request_ended: .*ended by an operator/)
    t.notRegex(broken.text, /message_stop|finish_reason":"stop|response\.completed/)
    await fixture.assertSound(t, streaming)
    t.deepEqual(await listed('operator'), [])
    t.is(await end('ada', running), 404, 'it is over')
    t.like(await row(running), { status: 200, outcome: 'cancelled' })
    t.regex(String((await row(running)).reason), /^request_ended: /)
    t.like(await row(waiting), { status: 403, outcome: 'error' })
    await eventually(async () => (await openHolds()).length === 0, 'settled holds')
  })

test.serial('in flight: an end is in the audit log of the account', async (t) => {
  const { json } = await send(url, { method: 'GET', path: '/v1/admin/audit', headers: bearer(tokens.operator) })
  const entries = valueAt(json, 'data') as { action: string; actor: string; accountId: string }[] // safe: the test fails otherwise
  const ends = entries.filter(({ action }) => action === 'request.ended')
  t.deepEqual([...new Set(ends.map(({ actor }) => actor))].toSorted(), ['user:ada', 'user:op'])
  t.true(ends.every(({ accountId }) => accountId === 'ada'))
})
