import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test from 'ava'
import { CookieBrowser } from '../support/cookie-browser.ts'
import { craftedSignIn, type Lies, startCraftedProvider } from '../support/crafted-provider.ts'
import { openFixture } from '../support/fixture.ts'
import { valueAt } from '../support/json.ts'

const OWN_PAGE = { 'x-turnpike-dashboard': '1', 'sec-fetch-site': 'same-origin' }
const SESSION = 'turnpike_session'

const provider = await startCraftedProvider()
const config = { sign_in: { ...craftedSignIn(provider), teams: { eng: { team: 'Engineering', role: 'lead' } } } }
const fixture = await openFixture({ env: { SVC_MODE: 'cloud' }, config })
const { url } = fixture.gateway
test.after.always('close the gateway and the provider', async () => {
  await fixture.close()
  await provider.close()
})

/** Resolves with the page to which a sign-in leads. */
async function signIn(user: string, lies?: Lies, browser = new CookieBrowser(), at = url): Promise<string | undefined> {
  return (await browser.send(await provider.answer(browser, at, user, lies))).headers.location
}

const roleOf = async (browser: CookieBrowser, at = url) => {
  const { json } = await browser.send(`${at}/dashboard/api/session`, { headers: OWN_PAGE })
  return valueAt(json, 'role')
}

/** Opens the first operator's link of this secret in a browser. */
const bindAt = (at: string, browser: CookieBrowser, secret: string) =>
  browser.send(`${at}/sign-in/first-operator`, { method: 'POST', headers: OWN_PAGE, body: { secret } })
const linkIn = (log: string) => /#\/first-operator\/([\w-]{43})/.exec(log)?.[1] ?? ''

test('hostile provider: an honest answer signs in, without `sessions` configured', async (t) => {
  t.is(await signIn('honest'), '/')
})

const REFUSED: readonly [claim: string, lies: Lies][] = [
  ['an ID token that another key has signed', { signature: 'foreign' }],
  ['an ID token signed with the client’s secret (HS256)', { signature: 'secret' }],
  ['an ID token without a signature (none)', { signature: 'none' }],
  ['the issuer of another provider in the answer (mix-up)', { answer: { iss: 'https://other.example' } }],
  ['an answer without the issuer that the provider promises', { answer: { iss: null } }],
  ['an ID token of another issuer', { claims: { iss: 'https://other.example' } }],
  ['an ID token for another client', { claims: { aud: 'other' } }],
  ['an ID token with the nonce of another sign-in (replay)', { claims: { nonce: 'x'.repeat(43) } }],
  ['an ID token without a nonce', { claims: { nonce: null } }],
  ['an ID token that has expired', { claims: { exp: 1 } }],
  ['an ID token without a subject', { claims: { sub: null } }],
  ['user info of another subject (group spoofing)', { userInfo: { sub: 'operator', groups: ['eng'] } }],
  ['a reply without an ID token', { token: { id_token: undefined } }],
]
for (const [claim, lies] of REFUSED)
  test(`hostile provider: ${claim} is refused`, async (t) => {
    const browser = new CookieBrowser()
    t.is(await signIn('mallory', lies, browser), '/#/sign-in/failed')
    t.is(browser.cookie(url, SESSION), undefined)
  })

for (const name of ['code', 'iss'])
  test(`hostile provider: an answer with two of \`${name}\` is refused`, async (t) => {
    const browser = new CookieBrowser()
    const answer = await provider.answer(browser, url, 'mallory')
    t.is((await browser.send(`${answer}&${name}=other`)).headers.location, '/#/sign-in/failed')
  })

test('hostile provider: the log has reasons of refusals, without claims and tokens', async (t) => {
  await signIn('mallory', { claims: { aud: 'other', email: 'secret@example.com' } })
  const lines = fixture.gateway
    .log()
    .split('\n')
    .filter((line) => line.includes('sign-in.refused'))
  t.true(lines.some((line) => line.includes('OAUTH_')))
  t.false(lines.some((line) => /secret@example|eyJ/.test(line)))
})

test('hostile provider: claims of the ID token count, not those of the user info over them', async (t) => {
  const browser = new CookieBrowser()
  await signIn('lee', { claims: { groups: [] }, userInfo: { groups: ['eng'] } }, browser)
  t.is(await roleOf(browser), 'member')
})

for (const sub of ['', 'x'.repeat(256), 'a\u0000b', 7])
  test(`hostile provider: ${JSON.stringify(sub).slice(0, 20)} identifies no account`, async (t) => {
    const refused = ['/#/sign-in/failed', '/#/sign-in/refused']
    t.true(refused.includes(String(await signIn('mallory', { claims: { sub }, userInfo: { sub } }))))
  })

test('hostile provider: names are kept as text, without controls and directions', async (t) => {
  const browser = new CookieBrowser()
  t.is(await signIn('odd', { claims: { name: ` \u202eEve\u0000<b>${'x'.repeat(5000)}` } }, browser), '/')
})

test.serial(
  'first operator: the link of the start works once, in one browser, for the account that signs in',
  async (t) => {
    const secret = linkIn(fixture.gateway.log())
    const bind = (browser: CookieBrowser, given = secret) => bindAt(url, browser, given)
    const [mine, other, foreign] = [new CookieBrowser(), new CookieBrowser(), new CookieBrowser()]
    t.is((await bind(foreign, 'x'.repeat(43))).status, 404)
    const crossSite = { ...OWN_PAGE, 'sec-fetch-site': 'cross-site' }
    const forged = { method: 'POST', headers: crossSite, body: { secret } }
    t.is((await foreign.send(`${url}/sign-in/first-operator`, forged)).status, 403)
    t.is((await bind(mine)).status, 204)
    t.is((await bind(mine)).status, 204, 'the page may be opened again')
    t.is((await bind(other)).status, 404)
    await signIn('other', {}, other)
    t.is(await roleOf(other), 'member')
    await signIn('ada', {}, mine)
    t.is(await roleOf(mine), 'operator')
    await signIn('ben', {}, mine)
    t.is(await roleOf(mine), 'member', 'the link is used up')
    t.false(fixture.gateway.log().split('first-operator/')[2]?.includes(secret) ?? false)
  },
)

test('first operator: of several processes each has a link, and the first that is used ends the others', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'turnpike-links-'))
  const options = { env: { SVC_MODE: 'cloud', SVC_DATA_DIR: folder }, config }
  const gateways = [await openFixture(options), await openFixture(options)].map(({ gateway, close }) => {
    t.teardown(close)
    return { at: gateway.url, secret: linkIn(gateway.log()) }
  })
  const [one, other] = gateways as [(typeof gateways)[0], (typeof gateways)[0]] // safe: two were started
  const [mine, late] = [new CookieBrowser(), new CookieBrowser()]
  t.is((await bindAt(one.at, mine, one.secret)).status, 204)
  t.is((await bindAt(other.at, late, other.secret)).status, 204)
  await signIn('ada', {}, mine, one.at)
  t.is(await roleOf(mine, one.at), 'operator')
  await signIn('ben', {}, late, other.at)
  t.is(await roleOf(late, other.at), 'member')
  t.is((await bindAt(one.at, new CookieBrowser(), other.secret)).status, 404)
  rmSync(folder, { recursive: true })
})
