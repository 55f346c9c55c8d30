import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test from 'ava'
import { bearer, SESSION_SECRET, sessionToken } from '../support/accounts.ts'
import { runCommandInThread } from '../support/command-in-thread.ts'
import { CookieBrowser } from '../support/cookie-browser.ts'
import { openFixture } from '../support/fixture.ts'
import { type Reply, type SendOptions, send } from '../support/http-client.ts'
import { CLIENT, startIdentityProvider, USER_HEADER, type Users } from '../support/identity-provider.ts'
import { type JsonObject, valueAt } from '../support/json.ts'

const MARK = { 'x-turnpike-dashboard': '1', 'sec-fetch-site': 'same-origin' }
const SESSION = 'turnpike_session'

const users: Users = {
  ada: { name: 'Ada Lovelace', email: 'ada@example.com', email_verified: true, groups: ['eng', 'ops'] },
  ben: { name: 'Ben', email: 'ben@example.com', email_verified: true, groups: ['eng', 'eng-leads'] },
  eve: { name: 'Eve', email: 'ada@example.com', email_verified: false, groups: [] },
  mary: { name: 'Mary', email: 'mary@other.example', email_verified: true, groups: [] },
  val: { name: 'Val', email: 'val@example.com', email_verified: true, groups: ['auditors'] },
  vic: { name: 'Vic', email: 'vic@example.com', email_verified: true, groups: ['auditors'] },
}
for (const name of ['cat', 'dan', 'fay', 'gil', 'hal', 'ida', 'joe', 'nan'])
  users[name] = { name, email: `${name}@example.com`, email_verified: true, groups: ['eng'] }

const data = mkdtempSync(path.join(tmpdir(), 'turnpike-sign-in-'))
const identity = await startIdentityProvider(users)
const fixture = await openFixture({
  env: {
    SVC_MODE: 'cloud',
    SVC_SESSION_SECRET: SESSION_SECRET,
    SVC_SIGN_IN_CLIENT_SECRET: CLIENT.secret,
    SVC_DATA_DIR: data,
  },
  config: {
    sign_in: {
      issuer: identity.issuer,
      client_id: CLIENT.id,
      teams: { zoo: 'Zoology', eng: 'Engineering', 'eng-leads': { team: 'engineering', role: 'lead' } },
      roles: { ops: 'operator', auditors: 'viewer' },
      email_domains: ['example.com'],
    },
  },
})
const { url } = fixture.gateway
await identity.register(`${url}/sign-in/callback`, `${url}/`)
test.after.always('close the gateway and the provider', async () => {
  await fixture.close()
  await identity.close()
  rmSync(data, { recursive: true })
})

const browserOf = (user: string) => new CookieBrowser({ [USER_HEADER]: user })
const page = (browser: CookieBrowser, path: string, options: SendOptions = {}) =>
  browser.send(url + path, { ...options, headers: { ...MARK, ...options.headers } })

/** Signs a user in with a new browser. */
async function signIn(user: string): Promise<CookieBrowser> {
  const browser = browserOf(user)
  await browser.open(`${url}/sign-in`)
  return browser
}

/** Goes through a sign-in until the provider's answer, which is not opened. */
async function answerFor(browser: CookieBrowser): Promise<string> {
  return String((await browser.open(`${url}/sign-in`, (here) => here.includes('/sign-in/callback'))).at(-1))
}

const isSignedIn = async (browser: CookieBrowser) => (await page(browser, '/dashboard/api/session')).status === 200
const operator = async () => signIn('ada')

test('sign-in: a user signs in at the provider, with PKCE, state and nonce, and returns to the page', async (t) => {
  const browser = browserOf('ada')
  const way = await browser.open(`${url}/sign-in?return=${encodeURIComponent('/#/requests?text=opus')}`)
  t.is(way.at(-1), `${url}/#/requests?text=opus`)
  const asked = new URL(String(way[1])).searchParams
  t.is(asked.get('code_challenge_method'), 'S256')
  t.is(asked.get('redirect_uri'), `${url}/sign-in/callback`)
  for (const name of ['state', 'nonce', 'code_challenge']) t.regex(String(asked.get(name)), /^[\w-]{43}$/)
  t.regex(String(browser.cookie(url, SESSION)), /^sess_[\w-]{43}$/)
  const { json } = await page(browser, '/dashboard/api/session')
  t.like(json, { userId: 'ada', role: 'operator', has: { sessions: true } })
})

test('sign-in: a session of the gateway’s own works beside session tokens', async (t) => {
  const browser = await signIn('cat')
  t.is((await page(browser, '/v1/keys')).status, 200)
  const token = await sessionToken('someone')
  t.is((await send(url, { method: 'GET', path: '/v1/keys', headers: bearer(token) })).status, 200)
  const ways = await send(url, { method: 'GET', path: '/dashboard/api/sign-in' })
  t.deepEqual(ways.json, { name: 'single sign-on', tokens: true })
})

test('sign-in: groups give roles; a viewer changes nothing and may end own sessions', async (t) => {
  t.like((await page(await signIn('ben'), '/dashboard/api/session')).json, { role: 'lead', isOperator: false })
  const viewer = await signIn('vic')
  t.like((await page(viewer, '/dashboard/api/session')).json, { role: 'viewer', mayChange: false })
  t.is((await page(viewer, '/v1/keys', { method: 'POST', body: {} })).status, 403)
  const { json } = await page(viewer, '/v1/sessions')
  const id = String(valueAt(json, 'sessions.0.id'))
  t.is((await page(viewer, `/v1/sessions/${id}`, { method: 'DELETE' })).status, 204)
  t.false(await isSignedIn(viewer))
})

test('sign-in: a lost group takes role and team at the next sign-in, from all sessions of the person', async (t) => {
  const first = await signIn('gil')
  t.like((await page(first, '/dashboard/api/session')).json, { role: 'member', teamIds: [] })
  users.gil = { ...users.gil, groups: ['eng-leads', 'ops'] }
  await signIn('gil')
  const raised = await page(first, '/dashboard/api/session')
  t.like(raised.json, { role: 'operator' })
  t.is((valueAt(raised.json, 'teamIds') as unknown[]).length, 1)
  users.gil = { ...users.gil, groups: [] }
  await signIn('gil')
  t.like((await page(first, '/dashboard/api/session')).json, { role: 'member', teamIds: [] })
  const { stdout } = await runCommandInThread(['audit', '--account', 'gil', '--json'], { env: { SVC_DATA_DIR: data } })
  const actions: readonly string[] = stdout.match(/"action":"[^"]+"/g) ?? []
  for (const action of ['session.opened', 'team.member-set', 'team.member-removed'])
    t.true(actions.includes(`"action":"${action}"`), `${action} in ${actions}`)
})

test('sign-in: a membership that was set by hand is neither removed nor lowered by groups', async (t) => {
  const boss = await operator()
  await signIn('ida')
  const { json } = await page(boss, '/v1/admin/teams')
  const team = valueAt(json, 'data.0.id')
  const set = await page(boss, `/v1/admin/teams/${team}/members/ida`, { method: 'PUT', body: { role: 'lead' } })
  t.is(set.status, 200, set.text)
  for (const groups of [['eng'], []]) {
    users.ida = { ...users.ida, groups }
    t.like((await page(await signIn('ida'), '/dashboard/api/session')).json, { role: 'lead', teamIds: [team] })
  }
})

test('sign-in: a lost group suspends the keys of its team; a lead by a group cannot outlast it', async (t) => {
  const boss = await operator()
  const change = async (browser: CookieBrowser, method: string, path: string, body?: JsonObject) => {
    const reply = await page(browser, path, { method, ...(body && { body }) })
    t.true(reply.status < 300, reply.text)
    return reply.json
  }
  users.kim = { name: 'Kim', email: 'kim@example.com', email_verified: true, groups: ['eng-leads'] }
  const lead = await signIn('kim')
  const teamId = String(valueAt((await page(lead, '/dashboard/api/session')).json, 'teamIds.0'))
  const key = await change(boss, 'POST', '/v1/admin/keys', { personId: 'kim', teamId })
  const use = async () => (await send(url, { headers: bearer(String(valueAt(key, 'key'))), body: {} })).status
  t.is(await use(), 400, 'accepted')
  await change(lead, 'PUT', `/v1/admin/teams/${teamId}/members/kim`, { role: 'lead' })
  users.kim = { ...users.kim, groups: [] }
  await signIn('kim')
  t.like((await page(lead, '/dashboard/api/session')).json, { role: 'member', teamIds: [] })
  t.is(await use(), 403)
})

test('sign-in: a membership from groups outlasts the archive of its team, and stays one from groups', async (t) => {
  const boss = await operator()
  users.lou = { name: 'Lou', email: 'lou@example.com', email_verified: true, groups: ['zoo'] }
  await signIn('lou')
  const { json } = await page(boss, '/v1/admin/teams?search=Zoology')
  const teamId = String(valueAt(json, 'data.0.id'))
  const key = await page(boss, '/v1/admin/keys', { method: 'POST', body: { personId: 'lou', teamId } })
  const path = `/v1/admin/teams/${teamId}`
  for (const archived of [true, false]) {
    t.is((await page(boss, path, { method: 'PATCH', body: { archived } })).status, 200)
    await signIn('lou')
    const headers = bearer(String(valueAt(key.json, 'key')))
    t.is((await send(url, { headers, body: {} })).status, 400, 'the key is accepted')
  }
  t.like((await page(boss, path)).json, { members: [{ id: 'lou', source: 'groups' }] })
})

/** Has a client of models sign in with the approval of a browser; returns the reply to its poll. */
async function approveClient(browser: CookieBrowser): Promise<Reply> {
  const form = (path: string, fields: Record<string, string>) => {
    const headers = { authorization: undefined, 'content-type': 'application/x-www-form-urlencoded' }
    return send(url, { path, headers, body: new URLSearchParams(fields).toString() })
  }
  const { json } = await form('/oauth/device_authorization', {})
  const code = String(valueAt(json, 'user_code'))
  await page(browser, '/dashboard/api/device', { method: 'POST', body: { code, approve: true } })
  const grant_type = 'urn:ietf:params:oauth:grant-type:device_code'
  return form('/oauth/token', { grant_type, device_code: String(valueAt(json, 'device_code')) })
}

test('sessions: a viewer cannot approve a client that gets a key', async (t) => {
  const viewer = await signIn('val')
  const reply = await approveClient(viewer)
  t.is(valueAt(reply.json, 'error'), 'access_denied', reply.text)
  t.deepEqual(valueAt((await page(viewer, '/v1/keys')).json, 'keys'), [])
})

test('sessions: a sign-in that ends the session of a client revokes its key', async (t) => {
  const granted = await approveClient(await signIn('nan'))
  const use = async () => {
    const headers = bearer(String(valueAt(granted.json, 'access_token')))
    return (await send(url, { headers, body: {} })).status
  }
  t.is(await use(), 400, 'accepted')
  const browser = browserOf('nan')
  browser.put(url, SESSION, String(valueAt(granted.json, 'refresh_token')))
  await browser.open(`${url}/sign-in`)
  t.is(await use(), 401)
})

test('sign-in: only verified addresses of accepted domains', async (t) => {
  for (const user of ['eve', 'mary']) {
    const browser = browserOf(user)
    t.is((await browser.open(`${url}/sign-in`)).at(-1), `${url}/#/sign-in/refused`, user)
    t.is(browser.cookie(url, SESSION), undefined)
  }
})

test('sign-in: a user whom the provider refuses gets a reason and no session', async (t) => {
  const browser = browserOf('unknown-user')
  t.is((await browser.open(`${url}/sign-in`)).at(-1), `${url}/#/sign-in/denied`)
  t.false(await isSignedIn(browser))
})

test('sign-in: an account follows the user’s id: an address that another user gets brings nothing along', async (t) => {
  const boss = await operator()
  const [old, renewed] = ['first@example.com', 'renamed@example.com']
  users.pam = { name: 'Pam', email: old, email_verified: true, groups: ['eng-leads'] }
  const first = await signIn('pam')
  const created = await page(first, '/v1/keys', { method: 'POST', body: { name: 'of pam' } })
  t.is(created.status, 201, created.text)
  await page(boss, '/v1/admin/people/pam', { method: 'PATCH', body: { limits: { costPerDay: 3 } } })
  users.pam = { ...users.pam, email: renewed }
  const again = await signIn('pam')
  const shown = async (id: string) => (await page(boss, `/v1/admin/people/${id}`)).json
  t.like(await shown('pam'), { email: renewed, keys: 1, limits: { costPerDay: 3 } })
  t.like((await page(again, '/dashboard/api/session')).json, { userId: 'pam', role: 'lead' })
  users.pat = { name: 'Pat', email: old, email_verified: true, groups: [] }
  const other = await signIn('pat')
  t.like((await page(other, '/dashboard/api/session')).json, { userId: 'pat', role: 'member', teamIds: [] })
  t.deepEqual(valueAt((await page(other, '/v1/keys')).json, 'keys'), [])
  t.is(valueAt((await page(other, '/v1/sessions')).json, 'sessions.length'), 1)
  t.like(await shown('pat'), { email: old, keys: 0, limits: null, teams: [] })
  t.like(await shown('pam'), { email: renewed, keys: 1, limits: { costPerDay: 3 } })
  const found = async (address: string) => {
    const { json } = await page(boss, `/v1/admin/people?search=${encodeURIComponent(address)}`)
    return (valueAt(json, 'data') as JsonObject[]).map(({ id }) => id) // safe: the test fails otherwise
  }
  t.deepEqual(await found(old), ['pat'])
  t.deepEqual(await found(renewed), ['pam'])
})

test('sign-in: an answer is used once', async (t) => {
  const browser = browserOf('dan')
  const answer = await answerFor(browser)
  const attempt = String(browser.cookie(url, 'turnpike_sign_in'))
  t.is((await browser.send(answer)).headers.location, '/')
  t.true(await isSignedIn(browser))
  const again = browserOf('dan')
  again.put(url, 'turnpike_sign_in', attempt)
  t.is((await again.send(answer)).headers.location, '/#/sign-in/expired')
  t.false(await isSignedIn(again))
})

test('sign-in: an answer in another browser opens no session (login CSRF), and stays good in its own', async (t) => {
  const attacker = browserOf('eve')
  const own = browserOf('fay')
  const answer = await answerFor(own)
  t.is((await attacker.send(answer)).headers.location, '/#/sign-in/expired')
  await attacker.open(`${url}/sign-in`, (here) => here.includes('/sign-in/callback'))
  t.is((await attacker.send(answer)).headers.location, '/#/sign-in/expired')
  t.false(await isSignedIn(attacker))
  t.is((await own.send(answer)).headers.location, '/')
})

test('sign-in: a changed state, iss or code is refused', async (t) => {
  const changes: [name: string, value: string, reason: string][] = [
    ['state', 'x'.repeat(43), 'expired'],
    ['iss', 'http://127.0.0.1:1', 'failed'],
    ['code', 'x'.repeat(43), 'failed'],
  ]
  for (const [name, value, reason] of changes) {
    const browser = browserOf('hal')
    const answer = new URL(await answerFor(browser))
    t.true(answer.searchParams.has(name), `the provider sends ${name}`)
    answer.searchParams.set(name, value)
    t.is((await browser.send(answer.href)).headers.location, `/#/sign-in/${reason}`, name)
    t.false(await isSignedIn(browser))
  }
})

test('sign-in: one that ends the session of a key and loses its team records each', async (t) => {
  users.una = { name: 'Una', email: 'una@example.com', email_verified: true, groups: ['eng-leads'] }
  const first = await signIn('una')
  const teamId = String(valueAt((await page(first, '/dashboard/api/session')).json, 'teamIds.0'))
  const granted = await approveClient(first)
  const boss = await operator()
  const { json } = await page(boss, '/v1/admin/keys?person=una')
  const id = String(valueAt(json, 'data.0.id'))
  const moved = await page(boss, `/v1/admin/keys/${id}`, { method: 'PATCH', body: { teamId } })
  t.is(moved.status, 200, moved.text)
  users.una = { ...users.una, groups: [] }
  const browser = browserOf('una')
  browser.put(url, SESSION, String(valueAt(granted.json, 'refresh_token')))
  await browser.open(`${url}/sign-in`)
  t.true(await isSignedIn(browser))
  const audit = await page(boss, '/v1/admin/audit?person=una')
  const entries = valueAt(audit.json, 'data') as JsonObject[]
  const entry = (action: string) => entries.find((one) => one.action === action)
  t.like(entry('key.suspended'), { subject: id, details: { team: teamId, reason: 'team.member-removed' } })
  t.like(entry('key.ended'), { subject: id, details: { reason: 'session.replaced' } })
  t.is(entry('session.replaced')?.subject, valueAt(entry('key.ended'), 'details.session'))
  const ended = await page(boss, '/v1/admin/people/una/sessions', { method: 'DELETE' })
  t.deepEqual(ended.json, { ended: 2 }, 'the first browser and the last; the replaced session had ended')
})

test('sign-in: the session that a browser had ends, and the new one has another id (fixation)', async (t) => {
  const browser = await signIn('ida')
  const first = String(browser.cookie(url, SESSION))
  await browser.open(`${url}/sign-in`)
  const second = String(browser.cookie(url, SESSION))
  t.not(second, first)
  t.true(await isSignedIn(browser))
  t.is((await send(url, { method: 'GET', path: '/v1/keys', headers: bearer(first) })).status, 401)
  const fixed = browserOf('ida')
  fixed.put(url, SESSION, `sess_${'x'.repeat(43)}`)
  await fixed.open(`${url}/sign-in`)
  t.not(fixed.cookie(url, SESSION), `sess_${'x'.repeat(43)}`)
})

for (const target of [
  'https://evil.example/',
  '//evil.example',
  '/\\evil.example',
  'javascript:alert(1)',
  '/\t/evil.example',
  `/${'x'.repeat(3000)}`,
])
  test(`sign-in: returns to its own page instead of ${JSON.stringify(target.slice(0, 30))}`, async (t) => {
    const browser = browserOf('joe')
    const way = await browser.open(`${url}/sign-in?return=${encodeURIComponent(target)}`)
    t.is(way.at(-1), `${url}/`)
  })

test('sign-in: addresses are those of the configuration, whatever the Host header', async (t) => {
  const headers = { host: 'evil.example', 'x-forwarded-host': 'evil.example' }
  const moved = await browserOf('ada').send(`${url}/sign-in`, { headers })
  t.is(moved.headers.location, `${url}/sign-in?here=1&return=%2F`)
  const { headers: reply } = await browserOf('ada').send(`${url}/sign-in?here=1`, { headers })
  t.is(new URL(String(reply.location)).searchParams.get('redirect_uri'), `${url}/sign-in/callback`)
})

test('sign-in: signing out ends the session and leads to the provider’s logout', async (t) => {
  const browser = await signIn('ada')
  const token = String(browser.cookie(url, SESSION))
  const out = await page(browser, '/dashboard/api/session', { method: 'DELETE' })
  const logout = new URL(String(valueAt(out.json, 'url')))
  t.is(logout.origin, identity.issuer)
  t.is(logout.searchParams.get('post_logout_redirect_uri'), `${url}/`)
  t.regex(String(logout.searchParams.get('id_token_hint')), /^eyJ/)
  t.is(browser.cookie(url, SESSION), undefined)
  t.is((await send(url, { method: 'GET', path: '/v1/keys', headers: bearer(token) })).status, 401)
})

test('sessions: users list and end their own; operators end those of a person', async (t) => {
  const [one, two, three] = [await signIn('fay'), await signIn('fay'), await signIn('fay')]
  const { json } = await page(one, '/v1/sessions')
  const list = valueAt(json, 'sessions') as { id: string; isCurrent: boolean; kind: string }[]
  t.true(list.length >= 3)
  t.is(list.filter(({ isCurrent }) => isCurrent).length, 1)
  const other = await signIn('hal')
  const foreign = await page(other, `/v1/sessions/${list[0]?.id}`, { method: 'DELETE' })
  t.is(foreign.status, 404)
  t.is((await page(other, '/v1/admin/people/fay/sessions', { method: 'DELETE' })).status, 403)
  const mine = list.find(({ isCurrent }) => isCurrent)?.id
  t.is((await page(two, `/v1/sessions/${mine}`, { method: 'DELETE' })).status, 204)
  t.false(await isSignedIn(one))
  t.true(await isSignedIn(two))
  const ended = await page(await operator(), '/v1/admin/people/fay/sessions', { method: 'DELETE' })
  t.is(ended.status, 200, ended.text)
  t.false(await isSignedIn(two))
  t.false(await isSignedIn(three))
})

test('sessions: a session that a sibling domain has put into the browser does not count (cookie tossing)', async (t) => {
  const browser = await signIn('cat')
  const token = browser.cookie(url, SESSION)
  const headers = { host: 'gateway.example.com', ...MARK, authorization: undefined }
  const get = (cookie: string) => send(url, { method: 'GET', path: '/v1/keys', headers: { ...headers, cookie } })
  t.is((await get(`${SESSION}=${token}`)).status, 401)
  t.is((await get(`__Host-${SESSION}=${token}`)).status, 200)
})

test('sessions: no secret of a sign-in is logged', async (t) => {
  const browser = browserOf('joe')
  const answer = new URL(await answerFor(browser))
  await browser.send(answer.href)
  const log = fixture.gateway.log()
  for (const name of ['code', 'state']) t.false(log.includes(String(answer.searchParams.get(name))), name)
  t.false(log.includes(String(browser.cookie(url, SESSION))))
})
