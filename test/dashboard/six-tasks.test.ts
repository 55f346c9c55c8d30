import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test, { type ExecutionContext } from 'ava'
import type { Locator, Page } from 'playwright-core'
import { bearer, sendAs, sessionToken, startCloudGateway } from '../support/accounts.ts'
import { startReceiver } from '../support/alert-receivers.ts'
import { seriousFaults, startBrowser } from '../support/browser.ts'
import { isDrill, sampled } from '../support/drill.ts'
import { eventually } from '../support/eventually.ts'
import { ask, send } from '../support/http-client.ts'
import { type JsonObject, valueAt } from '../support/json.ts'
import { putTables } from '../support/sqlite-tables.ts'
import { sampleRequest } from '../support/telemetry.ts'
import { storeRows } from './conversation-rows.ts'

/*
 * Six tasks of an operator, each with the keyboard alone and a bounded number of keys: a gateway in cloud mode with a team,
 * requests of yesterday, a refused one of today and a channel of alerts, and one browser. With TURNPIKE_SCREENSHOTS the page at
 * the end of each task is stored in that folder.
 */
const BOSS = 'boss'
const DAY_MS = 86_400_000
/** Most keys for one task, text excluded: a minute at one key a second. */
const MOST_KEYS = 60
const PICTURES = process.env.TURNPIKE_SCREENSHOTS
const EXAMPLE = ask('hi', { model: 'demo/echo' })

const folder = mkdtempSync(path.join(tmpdir(), 'turnpike-six-tasks-'))
const [receiver, browser] = await Promise.all([startReceiver(), startBrowser(), putTables(folder)])
const SVC_CONFIG = path.join(folder, 'turnpike.yaml')
const channels = { ops: { kind: 'slack', url: `${receiver.url}/ops`, kinds: ['cap'] } }
writeFileSync(SVC_CONFIG, JSON.stringify({ alerts: { every: '1h', channels } }))
const spent = (userId: string, modelServed: string, costNanoUsd: number) =>
  sampleRequest({
    userId,
    modelServed,
    costNanoUsd,
    counterfactualNanoUsd: costNanoUsd,
    startedAtMs: Date.now() - DAY_MS,
  })
await storeRows(folder, [
  spent('ada', 'claude-opus-4-8', 7e9),
  spent('ada', 'claude-sonnet-4-5', 2e9),
  spent('grace', 'claude-sonnet-4-5', 1e9),
])
const gateway = await startCloudGateway({
  SVC_CONFIG,
  SVC_DATA_DIR: folder,
  SVC_SESSION_OPERATOR_CLAIM: `sub=${BOSS}`,
})
const { url } = gateway
async function admin(method: string, path: string, body?: JsonObject): Promise<JsonObject> {
  const reply = await sendAs(BOSS, url, { method, path: `/v1/admin/${path}`, ...(body && { body }) })
  if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${reply.text}`)
  return (reply.json ?? {}) as JsonObject // safe: objects, or nothing
}

await admin('POST', 'people', { id: 'ada', name: 'Ada L.' })
await admin('POST', 'people', { id: 'grace', name: 'Grace H.' })
const { id: teamId } = await admin('POST', 'teams', { name: 'Compilers' })
await admin('PUT', `teams/${teamId}/members/grace`, {})
const build = await admin('POST', 'keys', {
  personId: 'grace',
  teamId,
  name: 'build',
  limits: { models: ['claude-*'] },
})
const own = await sendAs(BOSS, url, { path: '/v1/keys', body: { name: 'laptop' } })
await send(url, { body: EXAMPLE, headers: bearer(String(build.key)) })
await eventually(
  async () => valueAt(await admin('GET', `keys/${build.id}`), 'refused.count') === 1,
  'the refused request',
)

test.after.always('close the browser and the gateway', async () => {
  await browser.close()
  await gateway.stop()
  await receiver.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Hands on a keyboard: keys are counted since the begin of a task. */
class Keyboard {
  readonly #page: Page
  keys = 0

  constructor(page: Page) {
    this.#page = page
  }

  /** Moves the focus forward until it is on this. */
  async reach(target: Locator): Promise<void> {
    await target.waitFor()
    do await this.#press('Tab')
    while (!(await target.evaluate((element) => element.ownerDocument.activeElement === element)))
  }

  async enter(target: Locator): Promise<void> {
    await this.reach(target)
    await this.#press('Enter')
  }

  async type(target: Locator, text: string): Promise<void> {
    await this.reach(target)
    await this.#page.keyboard.insertText(text)
  }

  async #press(key: string): Promise<void> {
    this.keys++
    if (this.keys > MOST_KEYS)
      throw new Error(`More than ${MOST_KEYS} keys, at ${await this.#page.locator(':focus').innerHTML()}`)
    await this.#page.keyboard.press(key)
  }
}

test('six tasks of an operator: each with the keyboard alone, in at most sixty keys', async (t) => {
  await using open = await browser.open(url, { viewport: { width: 1440, height: 900 } })
  const { page, faults } = open
  const link = (name: string) => page.getByRole('link', { name, exact: true })
  const button = (name: string) => page.getByRole('button', { name })
  /** Does a task that begins at the menu, and asserts that its last page is sound. */
  const task = async (name: string, work: (keyboard: Keyboard) => Promise<void>) => {
    await page.goto('about:blank')
    await page.goto(url)
    await link('Requests').waitFor()
    const keyboard = new Keyboard(page)
    await work(keyboard)
    t.log(`${name}: ${keyboard.keys} keys`)
    await assertSound(t, page, name)
  }
  await page.getByLabel('Session token').focus()
  await page.keyboard.insertText(await sessionToken(BOSS))
  await button('Sign in').press('Enter')
  await link('Requests').waitFor()

  await task('who spent the most yesterday, and on what', async (keyboard) => {
    await keyboard.enter(link('Yesterday by person'))
    const first = page.getByRole('rowheader').first()
    await first.getByTitle('ada').waitFor()
    await keyboard.enter(link('Only Ada L.'))
    await page.getByRole('row', { name: /claude-opus-4-8.* \$7/ }).waitFor()
    await page.getByRole('link', { name: /^Person: Ada L\./ }).waitFor()
  })
  await task('why was this key refused', async (keyboard) => {
    await keyboard.enter(link('People'))
    await keyboard.enter(page.getByRole('main').getByRole('link', { name: 'Keys', exact: true }))
    await keyboard.enter(link('1 refused today'))
    await page.getByRole('link', { name: /^Key: build/ }).waitFor()
    await page.getByText(/^The latest: permission_error.*model/).waitFor()
  })
  await task('cap this team at $50 a day', async (keyboard) => {
    await keyboard.enter(link('People'))
    await keyboard.enter(link('Teams'))
    await keyboard.enter(page.locator('summary', { hasText: 'Compilers' }))
    await keyboard.type(page.getByLabel('Daily limit (USD)'), '50')
    await keyboard.enter(button('Save'))
    await page.getByText(/of \$50/).waitFor()
    t.is(valueAt(await admin('GET', `teams/${teamId}`), 'limits.costPerDay'), 50)
  })
  await task('give a newcomer access', async (keyboard) => {
    await keyboard.enter(link('People'))
    await keyboard.enter(page.getByText('Add a person before the first sign-in'))
    await keyboard.type(page.getByLabel('Id, as the identity provider gives it'), 'linus')
    await keyboard.type(page.getByLabel('Name', { exact: true }), 'Linus T.')
    await keyboard.enter(button('Add person'))
    await keyboard.enter(page.locator('summary', { hasText: 'Linus T.' }))
    await keyboard.enter(link('Keys of Linus T.'))
    await keyboard.enter(page.getByText('Create a key for a person'))
    await keyboard.type(page.getByLabel('Name of the key'), 'first')
    await keyboard.enter(button('Create key'))
    const line = await page.getByText(/^ANTHROPIC_BASE_URL=.* ANTHROPIC_API_KEY=svc_live_\w{38}/).textContent()
    const key = /svc_live_\w{38}/.exec(line ?? '')?.[0] ?? ''
    t.is((await send(url, { body: EXAMPLE, headers: bearer(key) })).status, 200)
  })
  await task('rotate a key without downtime', async (keyboard) => {
    await keyboard.enter(link('Keys'))
    await keyboard.enter(page.locator('summary', { hasText: 'laptop' }))
    await keyboard.enter(button('New secret'))
    await page.getByRole('heading', { name: 'The new secret' }).waitFor()
    const line = await page.getByText(/^ANTHROPIC_BASE_URL=/).textContent()
    for (const key of [/svc_live_\w{38}/.exec(line ?? '')?.[0], valueAt(own.json, 'key')])
      t.is((await send(url, { body: EXAMPLE, headers: bearer(String(key)) })).status, 200)
    await page.getByText('The secret before works until').waitFor()
  })
  await task('alert me at 80 %', async (keyboard) => {
    await keyboard.enter(link('Alerts'))
    await page.getByRole('cell', { name: 'caps at 50, 80, 100 %' }).waitFor()
    await keyboard.enter(button('Send a test to ops'))
    await page.getByText('Sent.').waitFor()
    t.is(receiver.taken.length, 1)
  })
  t.deepEqual(faults, [])
})

test('pages of operators have no serious finding of axe in either theme', async (t) => {
  await using open = await browser.open(url)
  const { page, faults } = open
  await page.getByLabel('Session token').fill(await sessionToken(BOSS))
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('link', { name: 'Requests', exact: true }).waitFor()
  for (const [place, name] of ['people', 'alerts', 'start', 'settings', 'sessions', 'device'].entries()) {
    await page.goto(`${url}/#/${name}`)
    await page.getByRole('main').getByRole('heading').first().waitFor()
    await page.locator('.busy').waitFor({ state: 'detached' })
    for (const colorScheme of sampled(['light', 'dark'] as const, place % 2)) {
      await page.emulateMedia({ colorScheme })
      t.deepEqual(await seriousFaults(page), [], `${name}, ${colorScheme}`)
      if (PICTURES !== undefined) await page.screenshot({ path: path.join(PICTURES, `${name}-${colorScheme}.png`) })
    }
  }
  t.deepEqual(faults, [])
})

test('pages: without a sign-in the page of command lines asks for no code', async (t) => {
  await using open = await browser.open(url)
  const { page, faults } = open
  await page.getByLabel('Session token').fill(await sessionToken(BOSS))
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('link', { name: 'Requests', exact: true }).waitFor()
  await page.goto(`${url}/#/device/BCDF-GHJK`)
  await page.getByRole('heading', { name: 'Sign in a command line' }).waitFor()
  t.is(await page.getByRole('textbox').count(), 0)
  await page.getByRole('heading', { name: 'Sign-in is not set up' }).waitFor()
  t.deepEqual(faults, [])
})

/** Asserts no overflow at two widths and, in a drill, no serious finding of axe, and stores pictures where a folder is named. */
async function assertSound(t: ExecutionContext, page: Page, name: string): Promise<void> {
  for (const width of [1440, 390]) {
    await page.setViewportSize({ width, height: 900 })
    if (isDrill) t.deepEqual(await seriousFaults(page), [], `${name} at ${width} px`)
    t.true(Number(await page.evaluate('innerWidth - document.documentElement.scrollWidth')) >= 0, `${name} overflows`)
    if (PICTURES !== undefined)
      await page.screenshot({ path: path.join(PICTURES, `${name.replace(/\W+/g, '-')}-${width}.png`) })
  }
  await page.setViewportSize({ width: 1440, height: 900 })
}
