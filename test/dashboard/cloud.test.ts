import test from 'ava'
import { mintSessionToken } from '../../src/accounts/sessions/mint.ts'
import { bearer, CLOUD, createKey, SESSION_SECRET, sessionToken } from '../support/accounts.ts'
import { cutCells, startBrowser } from '../support/browser.ts'
import { startFixture } from '../support/cache-fixture.ts'
import { eventually } from '../support/eventually.ts'
import { type SendOptions, send } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'

const [fixture, browser] = await Promise.all([
  startFixture({ env: { ...CLOUD, SVC_SESSION_OPERATOR_CLAIM: 'azp=operators' } }),
  startBrowser(),
])
const { url, port } = fixture.gateway
test.after.always('close the browser and the fixture', async () => {
  await browser.close()
  await fixture.close()
})

const OWN_PAGE = { 'sec-fetch-site': 'same-origin', host: `127.0.0.1:${port}` }
const MARK = { 'x-turnpike-dashboard': '1' }
const ask = (path: string, options: SendOptions) => send(url, { method: 'GET', path, ...options })
const asUser = async (userId: string) => bearer(await sessionToken(userId))
const idsOf = (json: unknown) => {
  const data = valueAt(json, 'data')
  return Array.isArray(data) ? data.map((row) => String(valueAt(row, 'id'))) : []
}

/** Most sessions of four seconds that are opened until the request of one is read in time. */
const MOST_SESSIONS = 5

/** Signs in as the page does; resolves with the cookie. */
async function signIn(userId: string): Promise<string> {
  const reply = await send(url, {
    path: '/dashboard/api/session',
    headers: { ...OWN_PAGE, ...MARK, ...(await asUser(userId)) },
  })
  return String(reply.headers['set-cookie'])
}

/** A session token with the claim that makes an operator. */
function operatorToken(): Promise<string> {
  const pinned = { secret: SESSION_SECRET, userClaim: 'sub', issuer: undefined, audience: undefined }
  return mintSessionToken({ ...pinned, userId: 'op', azp: ['operators'], nowMs: Date.now(), ttlMs: 60_000 })
}

/** Makes a key and a request with it; resolves with the receipt's id once its row is there. */
async function request(userId: string, prompt: string): Promise<string> {
  const { key } = await createKey({ url }, userId)
  const reply = await fixture.ask(prompt, { as: key, pipe: 'none' })
  const id = String(reply.headers['x-svc-receipt'])
  const headers = await asUser(userId)
  await eventually(async () => (await ask(`/dashboard/api/requests/${id}`, { headers })).status === 200, 'a row')
  return id
}

test('dashboard in the cloud: without a session there is a page and no data', async (t) => {
  t.is((await ask('/', {})).status, 200)
  for (const path of [
    'session',
    'requests',
    'live',
    'overview',
    'settings',
    'plugins',
    'capture',
    'payments',
    'credits',
  ])
    t.is((await ask(`/dashboard/api/${path}`, {})).status, 401, path)
})

for (const width of [1440, 1024, 390])
  test(`dashboard in the cloud: the list of requests has time, cost and total whole at ${width} px`, async (t) => {
    const user = `sees-${width}`
    await request(user, 'a row')
    await using open = await browser.open(url, { viewport: { width, height: 800 } })
    const { page } = open
    await page.clock.setFixedTime(Date.now() + 86_400_000)
    await page.getByLabel('Session token').fill(await sessionToken(user))
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('link', { name: 'Requests', exact: true }).click()
    t.deepEqual(await cutCells(page, '.cell.time, .cell.cost, .cell.total'), [])
  })

test('dashboard in the cloud: users see the requests of their own keys; an operator sees those of all', async (t) => {
  const [ada, ben] = [await request('ada-sees', 'of Ada'), await request('ben-sees', 'of Ben')]
  const listed = idsOf((await ask('/dashboard/api/requests', { headers: await asUser('ada-sees') })).json)
  t.deepEqual(listed, [ada])
  t.is((await ask(`/dashboard/api/requests/${ben}`, { headers: await asUser('ada-sees') })).status, 404)
  t.is((await ask('/dashboard/api/settings', { headers: await asUser('ada-sees') })).status, 403)
  t.notRegex((await ask('/dashboard/api/plugins', { headers: await asUser('ada-sees') })).text, /"folder"/)
  const headers = bearer(await operatorToken())
  const seen = idsOf((await ask('/dashboard/api/requests', { headers })).json)
  t.true(seen.includes(ada) && seen.includes(ben))
  t.is((await ask('/dashboard/api/settings', { headers })).status, 200)
})

test('dashboard in the cloud: the cookie is for our own pages, and changes nothing without their mark', async (t) => {
  const cookie = await signIn('cookie-user')
  t.regex(cookie, /^turnpike_session=[^;]+; Path=\/; HttpOnly; SameSite=Strict; Expires=/)
  const own = { ...OWN_PAGE, cookie: cookie.split(';')[0], authorization: undefined }
  const statusOf = async (options: SendOptions) => (await ask('/v1/keys', options)).status
  t.is(await statusOf({ headers: { ...own, ...MARK } }), 200)
  t.is(await statusOf({ method: 'POST', headers: { ...own }, body: {} }), 401)
  t.is(await statusOf({ method: 'POST', headers: { ...own, ...MARK }, body: {} }), 201)
  t.is(await statusOf({ headers: { ...own, ...MARK, 'sec-fetch-site': 'cross-site' } }), 401)
  t.is(await statusOf({ headers: { ...own, ...MARK, origin: 'https://evil.example' } }), 401)
})

test('dashboard in the cloud: a token that is none is refused, and no cookie is set', async (t) => {
  const reply = await send(url, { path: '/dashboard/api/session', headers: { ...OWN_PAGE, ...bearer('nonsense') } })
  t.is(reply.status, 401)
  t.is(reply.headers['set-cookie'], undefined)
})

test('dashboard in the cloud: bodies are kept once an account switches that on, for its owner and for no operator', async (t) => {
  const headers = await asUser('kept')
  const captureOf = async (id: string) => {
    const { json } = await ask(`/dashboard/api/requests/${id}`, { headers })
    return valueAt(json, 'capture')
  }
  const before = await request('kept', 'not to be kept')
  t.is(await captureOf(before), null)
  t.is(valueAt((await ask('/dashboard/api/capture', { headers })).json, 'untilMs'), null)
  const put = await ask('/dashboard/api/capture', { method: 'PUT', headers, body: { hours: 1 } })
  t.true(Number(valueAt(put.json, 'untilMs')) > Date.now())
  const after = await request('kept', 'to be kept')
  t.regex(String(valueAt(await captureOf(after), 'request.text')), /to be kept/)
  const operators = await ask(`/dashboard/api/requests/${after}`, { headers: bearer(await operatorToken()) })
  t.like(operators.json, { request: { id: after }, capture: null })
  const wrong = await ask('/dashboard/api/capture', { method: 'PUT', headers, body: { hours: 1000 } })
  t.is(wrong.status, 400)
  await ask('/dashboard/api/capture', { method: 'PUT', headers, body: { hours: 0 } })
  t.is(await captureOf(await request('kept', 'no more')), null)
})

test('dashboard in the cloud: a user signs in, creates a key, and signs out', async (t) => {
  await using open = await browser.open(`${url}/#/keys`)
  const { page, faults } = open
  const tokenField = page.getByLabel('Session token')
  await tokenField.fill('nonsense')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('alert').getByText('not valid').waitFor()
  await tokenField.fill(await sessionToken('browser-user'))
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByLabel('Name of a new key').fill('laptop <b>')
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.getByText(/^ANTHROPIC_BASE_URL=.* ANTHROPIC_API_KEY=svc_live_\w{38}/).waitFor()
  await page.getByText('laptop <b>').waitFor()
  await page.reload()
  await page.getByText('laptop <b>').click()
  t.is(await page.getByText(/ANTHROPIC_API_KEY=svc_live_\w{38}/).count(), 0)
  await page.getByLabel('Daily limit (USD)').fill('5')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('"costPerDay":5').waitFor()
  await page.getByRole('button', { name: 'Revoke…' }).click()
  await page.getByRole('button', { name: 'Revoke it' }).click()
  await page.getByText('revoked', { exact: true }).waitFor()
  await page.getByRole('link', { name: 'Billing' }).click()
  await page.getByText('Choose Pro').waitFor()
  await page.getByRole('button', { name: 'Keep for an hour' }).click()
  await page.getByText(/Kept until/).waitFor()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await tokenField.waitFor()
  t.deepEqual(faults, [])
})

test('dashboard in the cloud: over plain http from another machine no user signs in, elsewhere the cookie is Secure', async (t) => {
  const signInFrom = async (headers: Readonly<Record<string, string>>) =>
    send(url, { path: '/dashboard/api/session', headers: { ...MARK, ...(await asUser('ann')), ...headers } })
  const plain = await signInFrom({ host: 'gateway.lan', origin: 'http://gateway.lan' })
  t.is(plain.status, 403, plain.text)
  t.is(plain.headers['set-cookie'], undefined)
  t.regex(plain.text, /https/)
  const elsewhere = [{ host: 'gateway.lan', origin: 'https://gateway.lan' }, { host: 'gateway.lan' }]
  for (const headers of elsewhere) t.regex(String((await signInFrom(headers)).headers['set-cookie']), /; Secure/)
  const here = await signInFrom({ host: `localhost:${port}`, origin: `http://localhost:${port}` })
  t.is(here.status, 204, here.text)
  t.notRegex(String(here.headers['set-cookie']), /Secure/)
})

test('dashboard in the cloud: a live page ends with its session', async (t) => {
  const pinned = { secret: SESSION_SECRET, userClaim: 'sub', issuer: undefined, audience: undefined, azp: [] }
  const watch = async () => {
    const token = await mintSessionToken({ ...pinned, userId: 'ann', nowMs: Date.now(), ttlMs: 4000 })
    return ask('/dashboard/api/live', { headers: bearer(token) })
  }
  let reply = await watch()
  // On a busy machine a session may end before its request is read.
  for (let i = 0; i < MOST_SESSIONS && reply.status === 401; i++) reply = await watch()
  t.is(reply.status, 200)
  t.true(reply.endedCleanly)
  t.notRegex(reply.text, /still here/, 'it ended before the session was looked at again')
})
