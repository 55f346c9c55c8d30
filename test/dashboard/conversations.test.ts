import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test, { type ExecutionContext } from 'ava'
import type { Page } from 'playwright-core'
import { isFirstLook, seriousFaults, startBrowser } from '../support/browser.ts'
import { startFixture } from '../support/cache-fixture.ts'
import { sampled } from '../support/drill.ts'
import { eventually } from '../support/eventually.ts'
import { send } from '../support/http-client.ts'
import type { JsonObject } from '../support/json.ts'
import { EXPLORER, LONG, longRows, MANY, SESSION, sessionRows, storeRows } from './conversation-rows.ts'

/*
 * One gateway with stored conversations, and one whose turns it has served, so that their bodies are kept.
 */
const dataDir = await mkdtemp(path.join(tmpdir(), 'turnpike-conversations-'))
const now = Date.now()
await storeRows(dataDir, [...sessionRows(now - 60_000), ...longRows(now - 7_200_000)])
const [fixture, browser] = await Promise.all([startFixture({ env: { SVC_DATA_DIR: dataDir } }), startBrowser()])
const { url } = fixture.gateway

test.after.always('close the browser and the fixture', async () => {
  await browser.close()
  await fixture.close()
  await rm(dataDir, { recursive: true, force: true })
})

const QUESTION = { role: 'user', content: 'Which test fails?' }
const CALL = {
  role: 'assistant',
  content: [{ type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: 'npm test' } }],
}
const RESULT = {
  role: 'user',
  content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'ford.test.ts fails' }],
}

const ANSWER = { role: 'assistant', content: 'It is ford.test.ts.' }

interface Session {
  readonly id: string
  readonly turns: readonly string[]
  /** Sends a further turn; resolves with its id. */
  readonly turn: (messages: readonly JsonObject[], stream: boolean) => Promise<string>
}

/** Serves two turns of a session; resolves with the id of its conversation and those of its turns, once they are listed. */
async function serve(pipe: string): Promise<Session> {
  const session = randomUUID()
  const turn = async (messages: readonly JsonObject[], stream: boolean) => {
    const headers = { 'x-claude-code-session-id': session }
    const reply = await fixture.ask('', { pipe, headers, stream, extra: { max_tokens: 60, messages: [...messages] } })
    return String(reply.headers['x-svc-receipt'])
  }
  const turns = [await turn([QUESTION], false), await turn([QUESTION, CALL, RESULT], true)]
  let id = ''
  await eventually(async () => {
    const { json } = await send(url, { method: 'GET', path: `/dashboard/api/requests/${turns[1]}` })
    id = (json as { request?: { conversation: { id: string } } }).request?.conversation.id ?? '' // safe: its own shape
    return id !== ''
  }, 'the second turn')
  return { id, turns, turn }
}

/** Asserts that a page is sound: no fault, no overflow; and, once, no serious finding of axe. */
async function assertSound(t: ExecutionContext, page: Page, faults: readonly string[]): Promise<void> {
  t.deepEqual(faults, [])
  if (isFirstLook(page)) t.deepEqual(await seriousFaults(page), [])
  t.true(Number(await page.evaluate('innerWidth - document.documentElement.scrollWidth')) >= 0, 'the page overflows')
}

test('conversations: sub-agents are folded, the client is a filter of the address, and Enter opens one', async (t) => {
  await using open = await browser.open(`${url}/#/conversations?client=claude-code&text=jkmses`)
  const { page, faults } = open
  const row = page.locator('.row').filter({ hasText: '…jkmses' })
  await row.waitFor()
  t.is(await page.locator('.row').count(), 1)
  t.is(await row.locator('.turns').textContent(), '22')
  await row.getByRole('button', { name: 'Sub-agents' }).press('Enter')
  await page.locator('.row').filter({ hasText: '↳ Explore' }).waitFor()
  t.is(await page.locator('.row').count(), 3)
  await assertSound(t, page, faults)
  await row.getByRole('link').focus()
  await page.keyboard.press('ArrowDown')
  await page.locator('[data-index="1"] a:focus').waitFor()
  await page.keyboard.press('ArrowUp')
  await page.locator('[data-index="0"] a:focus').press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Conversation …jkmses' }).waitFor()
  await page.goto(`${url}/#/conversations?client=copilot`)
  await page.getByText('No matching conversations').waitFor()
})

test('conversation: turns are in order with their sub-agents at their time, and a lost prefix has its reason', async (t) => {
  await using open = await browser.open(`${url}/#/conversation/${SESSION}`)
  const { page, faults } = open
  const rows = page.getByRole('table', { name: 'Turns, oldest first' }).locator('.row')
  await rows.filter({ hasText: 'Lost prompt cache: claude-opus-4-8 in place of claude-sonnet-4-5' }).waitFor()
  t.is(await rows.nth(4).locator('.model').textContent(), 'Sub-agent Explore')
  t.regex((await rows.nth(5).locator('.notes').textContent()) ?? '', /started by Explore/)
  await page.getByRole('button', { name: 'Turns of Sub-agent Explore' }).click()
  await rows.nth(5).locator('.of-agent').waitFor()
  t.is(await rows.nth(8).locator('.number').textContent(), '4')
  t.regex((await rows.nth(9).locator('.model').textContent()) ?? '', /code-reviewer/)
  const classes = page.getByRole('region', { name: 'Cost by class' })
  t.deepEqual(await classes.getByRole('rowheader').allTextContents(), [
    'Fresh input',
    'Cache read',
    'Cache write, 5 min',
    'Cache write, 1 h',
    'Output',
    'Reasoning',
    'Server tools, fees',
    'Total',
  ])
  await assertSound(t, page, faults)
  const href = String(await page.getByRole('link', { name: 'Export JSONL' }).getAttribute('href'))
  const { text } = await send(url, { method: 'GET', path: href })
  t.is(text.trimEnd().split('\n').length, 22)
})

test('conversation: a sub-agent has a page of its own, with the way back to its parent', async (t) => {
  await using open = await browser.open(`${url}/#/conversation/${EXPLORER}`)
  const { page } = open
  await page.getByRole('heading', { level: 1, name: 'Sub-agent Explore' }).waitFor()
  await page.getByRole('link', { name: 'Started by …jkmses' }).click()
  await page.getByRole('heading', { level: 1, name: 'Conversation …jkmses' }).waitFor()
  t.is(new URL(page.url()).hash, `#/conversation/${SESSION}`)
})

test('turn: from a request to its turn: its new messages, its reply, and the change from the turn before', async (t) => {
  const { id, turns } = await serve('cost-guard')
  await using open = await browser.open(`${url}/#/requests?text=${turns[1]}`)
  const { page, faults } = open
  await page.locator('.row .conversation').getByRole('link').click()
  await page.getByRole('heading', { level: 2, name: 'Turn 2' }).waitFor()
  t.is(new URL(page.url()).hash, `#/conversation/${id}?turn=${turns[1]}`)
  t.is(await page.getByRole('region', { name: /^New in this turn/ }).textContent(), 'ford.test.ts fails')
  t.regex((await page.getByRole('region', { name: /^Reply, 1: assistant/ }).textContent()) ?? '', /You said/)
  await page.getByText('Change of the request from turn 1').click()
  const diff = page.getByRole('region', { name: 'Change of the request from turn 1' })
  await diff.locator('.more', { hasText: 'npm test' }).waitFor()
  await assertSound(t, page, faults)
  await page.getByRole('link', { name: '← Turn 1' }).click()
  await page.getByRole('heading', { level: 2, name: 'Turn 1' }).waitFor()
  await page.getByRole('link', { name: 'Open the request' }).click()
  await page.getByRole('heading', { name: 'Timeline' }).waitFor()
  await page.locator(`.facts a[href^="#/conversation/${id}"]`).waitFor()
  await assertSound(t, page, faults)
})

test('conversation: turns that end while the page is open are announced, and shown when asked for', async (t) => {
  const { id, turn } = await serve('none')
  await using open = await browser.open(`${url}/#/conversation/${id}`)
  const { page, faults } = open
  const rows = page.getByRole('table', { name: 'Turns, oldest first' }).locator('.row')
  await rows.nth(1).waitFor()
  await serve('none')
  await turn([QUESTION, CALL, RESULT, ANSWER, { role: 'user', content: 'Mend it.' }], false)
  const show = page.getByRole('button', { name: 'Show 1 new turn' })
  await show.waitFor()
  // On a busy machine the row can be later than the announcement.
  await eventually(async () => {
    await page.getByRole('button', { name: /Show 1 new turn|Reload/ }).click()
    return rows
      .nth(2)
      .waitFor({ timeout: 2000 })
      .then(() => true)
      .catch(() => false)
  }, 'the new turn')
  t.is(await show.count(), 0)
  t.deepEqual(faults, [])
})

test('budgets: limit and spending are shown, and the owner raises the limit', async (t) => {
  const { id } = await serve('cost-guard?per_conversation=2&turns_per_conversation=8')
  await using open = await browser.open(`${url}/#/conversation/${id}`)
  const { page, faults } = open
  const money = page.getByRole('article', { name: 'Money of the conversation' })
  await money.getByText('of $2.00').waitFor()
  await money.getByRole('spinbutton').fill('3')
  await money.getByRole('button', { name: 'Raise' }).click()
  await money.getByText('of $5.00').waitFor()
  await money.getByText('Raised by $3.00.').waitFor()
  const turns = page.getByRole('article', { name: 'Turns of the conversation' })
  await turns.getByText('2 turns of 8 turns').waitFor()
  await turns.getByRole('spinbutton').fill('9000000')
  await turns.getByRole('spinbutton').press('Enter')
  await turns.getByRole('alert').getByText('expected at most 1000000').waitFor()
  await assertSound(t, page, faults)
})

for (const colorScheme of ['light', 'dark'] as const)
  test(`conversations: both pages are sound, and no amount is cut, in the ${colorScheme}, whatever the width`, async (t) => {
    await using open = await browser.open(`${url}/#/conversations`, { colorScheme })
    const { page, faults } = open
    for (const width of sampled([1440, 1024, 390], ...(colorScheme === 'light' ? [0] : [1, 2])))
      for (const hash of ['#/conversations', `#/conversation/${SESSION}`]) {
        await page.setViewportSize({ width, height: 900 })
        await page.goto(`${url}/${hash}`)
        await page.locator('.row .cost').first().waitFor()
        await page.locator('.busy').waitFor({ state: 'detached' })
        const cells = await page.locator('.row :is(.cost, .running, .lost, .saved)').evaluateAll((elements) =>
          elements.map(({ textContent, scrollWidth, clientWidth }) => ({
            textContent,
            cut: scrollWidth - clientWidth,
          })),
        )
        t.deepEqual(
          cells.filter(({ cut }) => cut > 0),
          [],
          `${hash} at ${width}`,
        )
        await assertSound(t, page, faults)
      }
  })

test(`conversation: of ${MANY} turns only those in view are in the document, and a page of them is loaded`, async (t) => {
  await using open = await browser.open(`${url}/#/conversation/${LONG}`)
  const { page, faults } = open
  const table = page.getByRole('table', { name: 'Turns, oldest first' })
  await table.waitFor()
  t.is(await table.getAttribute('aria-rowcount'), '501')
  await table.evaluate((element) => element.scrollTo(0, element.scrollHeight))
  await page.locator('[role=table][aria-rowcount="1001"]').waitFor()
  t.true((await table.getByRole('row').count()) < 100)
  const href = await table.locator('[data-index="500"] .time a').getAttribute('href')
  await table.evaluate((element) => element.scrollTo(0, 0))
  await table.locator('[data-index="0"]').waitFor()
  await page.goto(`${url}/${href}`)
  await table.locator('[data-index="500"] [aria-current]').waitFor()
  t.deepEqual(faults, [])
})
