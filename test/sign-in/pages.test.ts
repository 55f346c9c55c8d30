import test from 'ava'
import { faultsOfLooks, startBrowser } from '../support/browser.ts'
import { openFixture } from '../support/fixture.ts'
import { send } from '../support/http-client.ts'
import { CLIENT, startIdentityProvider, USER_HEADER } from '../support/identity-provider.ts'
import { valueAt } from '../support/json.ts'

const identity = await startIdentityProvider({ ada: { name: 'Ada' } })
const [fixture, browser] = await Promise.all([
  openFixture({
    env: { SVC_MODE: 'cloud', SVC_SIGN_IN_CLIENT_SECRET: CLIENT.secret, SVC_SIGN_IN_NAME: 'Acme' },
    config: { sign_in: { issuer: identity.issuer, client_id: CLIENT.id } },
  }),
  startBrowser(),
])
const { url } = fixture.gateway
await identity.register(`${url}/sign-in/callback`, `${url}/`)
test.after.always('close the browser, the gateway and the provider', async () => {
  await browser.close()
  await fixture.close()
  await identity.close()
})

const form = (path: string, fields: Record<string, string>) =>
  send(url, {
    path,
    headers: { authorization: undefined, 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(fields).toString(),
  })

test('pages: a user signs in at the provider, approves a command line, ends its session, and signs out', async (t) => {
  await using open = await browser.open(`${url}/#/sign-in/denied`)
  const { page, faults } = open
  await page.setExtraHTTPHeaders({ [USER_HEADER]: 'ada' })
  // The provider's own page would ask for a font elsewhere.
  await page.route(`${identity.issuer}/session/end?**`, (route) => route.fulfill({ body: 'signed out' }))
  await page.getByRole('alert').getByText('did not sign you in').waitFor()
  t.is(await page.getByLabel('Session token').count(), 0, 'no tokens are accepted here')
  const device = await form('/oauth/device_authorization', { client_id: 'turnpike', device_name: 'laptop <b>' })
  const code = String(valueAt(device.json, 'user_code'))
  await page.goto(`${url}/#/device/${code}`)
  await page.getByRole('link', { name: 'Sign in with Acme' }).click()
  await page.getByLabel('Code that the command shows').waitFor()
  t.is(await page.getByLabel('Code that the command shows').inputValue(), code, 'it returns to the page')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('heading', { name: 'Sign in turnpike on laptop <b>?' }).waitFor()
  t.deepEqual(await faultsOfLooks(page), [], 'the approval')
  await page.getByRole('button', { name: 'Approve' }).click()
  await page.getByText('Approved.').waitFor()
  const token = await form('/oauth/token', {
    grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
    device_code: String(valueAt(device.json, 'device_code')),
    client_id: 'turnpike',
  })
  t.is(token.status, 200, token.text)
  await page.getByRole('link', { name: 'ada' }).click()
  await page.getByText('turnpike on laptop <b>').waitFor()
  await page.getByText('this one').waitFor()
  t.deepEqual(await faultsOfLooks(page), [], 'the sessions')
  await page.getByRole('button', { name: 'End this session' }).click()
  await page.getByText('turnpike on laptop <b>').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.waitForURL(`${identity.issuer}/session/end?**`)
  await page.goto(`${url}/`)
  await page.getByRole('link', { name: 'Sign in with Acme' }).waitFor()
  t.deepEqual(
    faults.filter((fault) => !fault.startsWith(`asked ${identity.issuer}/`)),
    [],
  )
})
