import test, { type ExecutionContext } from 'ava'
import type { Page } from 'playwright-core'
import { bearer, sendAs, sessionToken, startCloudGateway } from '../support/accounts.ts'
import { isFirstLook, seriousFaults, startBrowser } from '../support/browser.ts'
import { sampled } from '../support/drill.ts'
import { ask, send } from '../support/http-client.ts'
import type { JsonObject } from '../support/json.ts'
import { valueAt } from '../support/json.ts'

/*
 * One gateway in cloud mode with a team of two, and one browser.
 */
const BOSS = 'boss'
const [gateway, browser] = await Promise.all([
  startCloudGateway({ SVC_SESSION_OPERATOR_CLAIM: `sub=${BOSS}` }),
  startBrowser(),
])
const { url } = gateway
async function admin(method: string, path: string, body?: JsonObject): Promise<JsonObject> {
  const reply = await sendAs(BOSS, url, { method, path: `/v1/admin/${path}`, ...(body && { body }) })
  if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${reply.text}`)
  return (reply.json ?? {}) as JsonObject // safe: objects, or nothing
}

await admin('POST', 'people', { id: 'ada', name: 'Ada L.' })
await admin('POST', 'people', { id: 'grace', name: 'Grace <b>' })
const { id: teamId } = await admin('POST', 'teams', { name: 'Compilers', limits: { costPerDay: 5 } })
await admin('PUT', `teams/${teamId}/members/ada`, { role: 'lead' })
await admin('PUT', `teams/${teamId}/members/grace`, {})
const { id: keyId } = await admin('POST', 'keys', { personId: 'grace', teamId, name: 'build', tags: ['ci'] })
await admin('PUT', 'tags/ci', { limits: { costPerDay: 1 } })

test.after.always('close the browser and the gateway', async () => {
  await browser.close()
  await gateway.stop()
})

/** Asserts that a page is sound: no fault, no overflow; and, once, no serious finding of axe. */
async function assertSound(t: ExecutionContext, page: Page, faults: readonly string[]): Promise<void> {
  t.deepEqual(faults, [])
  if (isFirstLook(page)) t.deepEqual(await seriousFaults(page), [])
  t.true(Number(await page.evaluate('innerWidth - document.documentElement.scrollWidth')) >= 0, 'the page overflows')
}

async function openAs(user: string, hash: string, width = 1440) {
  const open = await browser.open(`${url}/${hash}`, { viewport: { width, height: 900 } })
  await open.page.getByLabel('Session token').fill(await sessionToken(user))
  await open.page.getByRole('button', { name: 'Sign in' }).click()
  await open.page.getByRole('heading', { name: 'People', level: 1 }).waitFor()
  return open
}

test('people: an operator makes a key, caps the team and rotates a key, by the keyboard alone', async (t) => {
  await using open = await openAs(BOSS, '#/people/keys')
  const { page, faults } = open
  await page.getByText('Create a key for a person').press('Enter')
  await page.getByLabel('Id of the person').fill('grace')
  await page.getByLabel('Name of the key').fill('laptop <b>')
  await page.getByRole('button', { name: 'Create key' }).press('Enter')
  const line = page.getByText(/^ANTHROPIC_BASE_URL=.* ANTHROPIC_API_KEY=svc_live_\w{38}/)
  const key = /svc_live_\w{38}/.exec((await line.textContent()) ?? '')?.[0] ?? ''
  const body = ask('hi', { model: 'demo/echo' })
  t.is((await send(url, { body, headers: bearer(key) })).status, 200)
  await assertSound(t, page, faults)
  await page.getByRole('button', { name: 'Done' }).press('Enter')
  await page.locator('summary', { hasText: 'laptop <b>' }).press('Enter')
  await page.getByLabel('End of the secret before').selectOption('0')
  await page.getByRole('button', { name: 'New secret' }).press('Enter')
  await page.getByRole('heading', { name: 'The new secret' }).waitFor()
  t.is((await send(url, { body, headers: bearer(key) })).status, 401)
  await page.getByRole('link', { name: 'Teams', exact: true }).press('Enter')
  await page.locator('summary', { hasText: 'Compilers' }).press('Enter')
  await page.getByLabel('Daily limit (USD)').fill('50')
  await page.getByRole('button', { name: 'Save' }).press('Enter')
  await page.getByText(/of \$50/).waitFor()
  t.is(valueAt(await admin('GET', `teams/${teamId}`), 'limits.costPerDay'), 50)
  await assertSound(t, page, faults)
})

for (const [width, colorScheme] of [
  [390, 'dark'],
  [1024, 'light'],
] as const)
  test(`people: every section is sound at ${width} px, its forms unfolded`, async (t) => {
    await using open = await openAs(BOSS, '#/people', width)
    const { page, faults } = open
    await page.emulateMedia({ colorScheme })
    const sections = [
      ['', 'Grace <b>'],
      ['teams', 'Compilers'],
      ['keys', 'build'],
      ['tags', 'ci'],
    ] as const
    for (const [section, row] of sampled(sections, ...(width === 390 ? [0, 2] : [1, 3]))) {
      await page.goto(`${url}/#/people/${section}`)
      await page.locator('summary', { hasText: row }).first().click()
      await page.getByRole('button', { name: 'Save' }).last().waitFor()
      await assertSound(t, page, faults)
    }
  })

test('people: a lead sees the team, its keys and no tags; a member has no such page in the menu', async (t) => {
  await using open = await openAs('ada', '#/people')
  const { page, faults } = open
  await page.locator('summary', { hasText: 'Grace <b>' }).waitFor()
  t.is(await page.locator('summary', { hasText: BOSS }).count(), 0)
  t.is(await page.getByRole('link', { name: 'Tags' }).count(), 0)
  await page.goto(`${url}/#/people/keys?team=${teamId}`)
  await page.locator('summary', { hasText: 'build' }).click()
  await page.getByRole('button', { name: 'Suspend' }).click()
  await page.locator('summary').getByText('suspended').waitFor()
  t.not(valueAt(await admin('GET', `keys/${keyId}`), 'suspendedAt'), undefined)
  await page.getByRole('button', { name: 'Resume' }).click()
  await page.locator('summary').getByText('active').first().waitFor()
  await assertSound(t, page, faults)
  await using others = await browser.open(`${url}/#/keys`)
  await others.page.getByLabel('Session token').fill(await sessionToken('grace'))
  await others.page.getByRole('button', { name: 'Sign in' }).click()
  await others.page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor()
  t.is(await others.page.getByRole('link', { name: 'People' }).count(), 0)
})
