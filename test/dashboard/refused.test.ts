import test from 'ava'
import { mintSessionToken } from '../../src/accounts/sessions/mint.ts'
import { bearer, CLOUD, createKey, SESSION_SECRET, sendAs, sessionToken } from '../support/accounts.ts'
import { startFixture } from '../support/cache-fixture.ts'
import { eventually } from '../support/eventually.ts'
import { type SendOptions, send } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'
import { startCommand } from '../support/running-command.ts'

/*
 * One gateway in cloud mode, at which every refusal names its key, its model and its reason.
 */
const fixture = await startFixture({
  env: { ...CLOUD, SVC_SESSION_OPERATOR_CLAIM: 'azp=operators' },
  config: { limits: { failures_per_minute: 0 } },
})
const { url } = fixture.gateway
test.after.always('close the fixture', () => fixture.close())

const MODEL = 'claude-sonnet-4-5'
const BODY = { model: MODEL, max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] }
const CHAT = { model: MODEL, messages: [{ role: 'user', content: 'Hi' }] }

interface Refused {
  id: string
  requestId: string
  keyId: string | null
  modelAsked: string
  status: number
  outcome: string
  reason: string
  hasReceipt: boolean
}

async function operatorToken(): Promise<string> {
  const pinned = { secret: SESSION_SECRET, userClaim: 'sub', issuer: undefined, audience: undefined }
  return mintSessionToken({ ...pinned, userId: 'op', azp: ['operators'], nowMs: Date.now(), ttlMs: 600_000 })
}

/** The rows that a viewer finds with this text. */
async function listed(token: string, text: string): Promise<Refused[]> {
  const path = `/dashboard/api/requests?limit=500&text=${encodeURIComponent(text)}`
  const { json } = await send(url, { method: 'GET', path, headers: bearer(token) })
  return valueAt(json, 'data') as Refused[] // safe: it is a list, or the test fails
}

/** Waits for the row of a reply, as its key's owner finds it by the key's id. */
async function rowOf(token: string, keyId: string, requestId: unknown): Promise<Refused> {
  const find = async () => (await listed(token, keyId)).find((row) => row.requestId === requestId)
  await eventually(async () => (await find()) !== undefined, `a row of ${requestId}`)
  return (await find()) as Refused // safe: it was there a moment ago
}

const lineOf = (requestId: unknown) =>
  fixture.gateway
    .log()
    .split('\n')
    .find((line) => line.includes(`"requestId":"${requestId}"`)) ?? ''

const REFUSALS: Readonly<Record<string, readonly [status: number, options: SendOptions, reason: RegExp]>> = {
  'a body that is not valid': [400, { body: { ...BODY, max_tokens: -1 } }, /^invalid_request: .*max_tokens/],
  'a chat body that is not valid': [
    400,
    { path: '/v1/chat/completions', body: { ...CHAT, messages: [] } },
    /^invalid_request: .*messages/,
  ],
  'a model of a provider that is not there': [
    400,
    { body: { ...BODY, model: `nowhere/${MODEL}` } },
    /^invalid_request: .*nowhere/,
  ],
  'a pipeline that does not parse': [
    400,
    { body: BODY, headers: { 'x-svc-pipe': 'No Such Pipe!' } },
    /^invalid_request: /,
  ],
  'a model that the key may not use': [403, { body: BODY }, /^permission_error: model: this key may not use it/],
  'a body that is no JSON': [415, { body: 'hi', headers: { 'content-type': 'text/plain' } }, /^unsupported_media_type/],
  'more than the rate limit': [429, { body: BODY }, /^rate_limit_error: More than 1 requests/],
}

for (const [title, [status, options, reason]] of Object.entries(REFUSALS)) {
  test(`refused: ${title} is a row with key, model and reason, and a log line with them`, async (t) => {
    const user = `owner of ${title}`
    const { key, id } = await createKey({ url }, user)
    const limits = { 403: { models: ['claude-haiku-*'] }, 429: { requestsPerMinute: 1 } }[status]
    if (limits !== undefined) await sendAs(user, url, { method: 'PATCH', path: `/v1/keys/${id}`, body: { limits } })
    const ask = () => send(url, { ...options, headers: { ...bearer(key), ...options.headers } })
    if (status === 429) await ask()
    const reply = await ask()
    t.is(reply.status, status, reply.text)
    const requestId = reply.headers['request-id']
    const token = await sessionToken(user)
    const row = await rowOf(token, id, requestId)
    t.like(row, { keyId: id, status, outcome: 'refused', hasReceipt: false })
    t.regex(row.reason, reason)
    const isModelRead = ![
      'a pipeline that does not parse',
      'a body that is no JSON',
      'more than the rate limit',
    ].includes(title)
    if (isModelRead) t.true(row.modelAsked.endsWith(MODEL))
    t.true(lineOf(requestId).includes(`"key":"${id}"`), lineOf(requestId))
    if (isModelRead) t.true(lineOf(requestId).includes(MODEL), lineOf(requestId))
    const { text } = await send(url, { method: 'GET', path: '/dashboard/api/requests.csv', headers: bearer(token) })
    t.regex(text, new RegExp(`,${status},refused,.*${row.reason.split(/[:"]/)[0]}`))
    const stranger = bearer(await sessionToken('somebody else'))
    t.is((await send(url, { method: 'GET', path: `/dashboard/api/requests/${row.id}`, headers: stranger })).status, 404)
    t.deepEqual(await listed(await sessionToken('somebody else'), id), [])
  })
}

test('refused: a revoked key has rows that its owner finds by the key', async (t) => {
  const { key, id } = await createKey({ url }, 'revoker')
  await sendAs('revoker', url, { method: 'DELETE', path: `/v1/keys/${id}` })
  for (const _ of [1, 2]) {
    const reply = await send(url, { body: BODY, headers: bearer(key) })
    t.is(reply.status, 401)
    const row = await rowOf(await sessionToken('revoker'), id, reply.headers['request-id'])
    t.like(row, { keyId: id, status: 401, outcome: 'refused' })
    t.regex(row.reason, /^key_revoked: /)
  }
})

test('refused: a cap inside the pipeline gives its reason, too', async (t) => {
  const { key, id } = await createKey({ url }, 'capped')
  await sendAs('capped', url, { method: 'PATCH', path: `/v1/keys/${id}`, body: { limits: { costPerDay: 0 } } })
  const reply = await send(url, { body: BODY, headers: bearer(key) })
  t.is(reply.status, 429)
  const row = await rowOf(await sessionToken('capped'), id, reply.headers['request-id'])
  t.like(row, { keyId: id, status: 429, outcome: 'error', modelAsked: MODEL })
  t.regex(row.reason, /^cost_limit_per_day: /)
})

test('refused: callers without a known key share a bounded number of rows, which operators see', async (t) => {
  const flood = 150
  for (let sent = 0; sent < flood; sent++) {
    const { status } = await send(url, { body: BODY, headers: bearer(`unknown-key-${sent}`) })
    t.is(status, 401)
  }
  const operator = await operatorToken()
  await eventually(async () => (await listed(operator, 'malformed')).length > 0, 'rows of strangers')
  const rows = await listed(operator, 'malformed')
  t.true(rows.length <= 62, `${rows.length} rows`)
  t.true(rows.every(({ keyId }) => keyId === null))
  t.deepEqual(await listed(await sessionToken('ada'), 'malformed'), [])
  t.notRegex(JSON.stringify(rows), /unknown-key-/)
})

test('refused: `tail` prints them with their reason', async (t) => {
  const { key, id } = await createKey({ url }, 'tailed')
  const words = ['tail', '--url', url, '--key', id, '-n', '1']
  const command = startCommand(words, { SVC_SESSION_TOKEN: await sessionToken('tailed') })
  t.teardown(() => command.signal('SIGKILL'))
  await command.until('following')
  await send(url, { body: { ...BODY, max_tokens: -1 }, headers: bearer(key) })
  t.is((await command.ended).code, 0)
  t.regex(command.stdout(), /400 claude-sonnet-4-5 .*refused invalid_request: /)
})

test('refused: of a credential in a long model nothing is kept, where the name is cut either', async (t) => {
  const { key } = await createKey(fixture.gateway, 'long-model')
  const own = 'correct-horse-battery-staple-of-nobody'
  const body = { ...BODY, model: `${'m'.repeat(280)}${own}` }
  t.is((await send(url, { body, headers: { ...bearer(key), 'x-provider-key': own } })).status, 400)
  const token = await sessionToken('long-model')
  await eventually(async () => (await listed(token, 'mmmm')).length > 0, 'its row')
  const [row] = await listed(token, 'mmmm')
  t.notRegex(String(row?.modelAsked), /correct-horse/)
  t.notRegex(fixture.gateway.log(), /correct-horse/)
})
