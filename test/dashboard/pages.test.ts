import test, { type ExecutionContext } from 'ava'
import type { Page } from 'playwright-core'
import { faultsOfLooks, isFirstLook, seriousFaults, startBrowser } from '../support/browser.ts'
import { startFixture } from '../support/cache-fixture.ts'
import type { JsonObject } from '../support/json.ts'
import { untilRecorded } from '../support/recorded.ts'

/*
 * One gateway in local mode, one browser; requests are sent before pages are opened.
 */
const TOOL_RESULT: JsonObject = {
  messages: [
    { role: 'user', content: 'List the files.' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'ls', input: {} }] },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'toolu_1',
          content: JSON.stringify(
            Array.from({ length: 60 }, (_, index) => ({ name: `file-${index}.ts`, kind: 'file', owner: 'root' })),
            undefined,
            2,
          ),
        },
      ],
    },
  ],
}

const TOOLS = Array.from({ length: 12 }, (_, index) => ({
  name: `tool_${index}`,
  description: `Does thing ${index}. ${'It has a long description. '.repeat(120)}`,
  input_schema: { type: 'object' },
}))

const [fixture, browser] = await Promise.all([startFixture(), startBrowser()])
const answered = await fixture.ask('What is a ford?', { pipe: 'exact-cache,cost-guard' })
await fixture.ask('What is a ford?', { pipe: 'exact-cache,cost-guard' })
const unpruned = await fixture.ask('Is there a ford?', { pipe: 'prune-tools', extra: { tools: TOOLS } })
const shortened = await fixture.ask('', { pipe: 'compress', extra: TOOL_RESULT })
await untilRecorded(fixture.gateway, shortened)

test.after.always('close the browser and the fixture', async () => {
  await browser.close()
  await fixture.close()
})

const address = (hash: string) => `${fixture.gateway.url}/${hash}`
const idOf = ({ headers }: { headers: NodeJS.Dict<string | string[]> }) => String(headers['x-svc-receipt'])

/** Asserts that a page is sound: no fault, no request to another origin, no overflow; and, once, no serious finding of axe. */
async function assertSound(t: ExecutionContext, page: Page, faults: readonly string[]): Promise<void> {
  t.deepEqual(faults, [])
  if (isFirstLook(page)) t.deepEqual(await seriousFaults(page), [])
  const room = await page.evaluate<number>('innerWidth - document.documentElement.scrollWidth')
  t.true(room >= 0, `the page is ${-room} px wider than its window`)
}

for (const list of ['requests?text=exact-cache', 'conversations', 'requests?cache=hit'])
  test(`lists: ${list} asks for its first page once`, async (t) => {
    await using open = await browser.open(address('#/live'))
    await open.page.locator('.connection.is-open').waitFor()
    const asked: string[] = []
    open.page.on('request', (request) => asked.push(request.url()))
    await open.page.evaluate(`location.hash = '#/${list}'`)
    await open.page.locator('[role=row] a').first().waitFor()
    t.is(asked.filter((url) => url.includes('limit=500')).length, 1, asked.join('\n'))
  })

test('live: a request appears when its reply has ended', async (t) => {
  await using open = await browser.open(address('#/live'))
  const { page, faults } = open
  await page.getByText('connected', { exact: true }).waitFor()
  fixture.script('Is this ended?', { kind: 'hang', at: 'before-headers' })
  const ended = fixture.ask('Is this ended?', { pipe: 'none', extra: { model: 'claude-haiku-4-5' } })
  const row = page.getByRole('region', { name: 'In flight' }).getByRole('row').filter({ hasText: 'claude-haiku-4-5' })
  await row.waitFor()
  t.deepEqual(await faultsOfLooks(page), [], 'a request in flight')
  await row.getByRole('button', { name: /^End/ }).click()
  t.is((await ended).status, 403)
  await row.waitFor({ state: 'detached' })
  const reply = await fixture.ask('Is this watched?')
  await page.locator(`a[href="#/request/${idOf(reply)}"]`).waitFor()
  await assertSound(t, page, faults)
})

test('request: shows what a module changed, both bodies and a receipt that is genuine', async (t) => {
  await using open = await browser.open(address(`#/request/${idOf(shortened)}`))
  const { page, faults } = open
  await page.getByText('Genuine: it is in the signed ledger, unchanged.').waitFor()
  await page.getByText('Inclusion proof and signed tree head').click()
  await page.getByText(/^turnpike\/ledger\/[0-9a-f]{20}$/).waitFor()
  const diff = page.getByRole('region', { name: 'What compress changed' })
  t.true((await diff.locator('.less').count()) > 0 && (await diff.locator('.more').count()) > 0)
  t.regex(
    (await page.getByRole('region', { name: 'Request, as sent by the client' }).textContent()) ?? '',
    /List the files\./,
  )
  const reply = page.getByRole('region', { name: 'Reply, as received by the client' })
  t.notRegex((await reply.textContent()) ?? '', /end_turn/, 'the text alone')
  await page.getByRole('button', { name: 'Raw bytes' }).click()
  t.regex((await reply.textContent()) ?? '', /end_turn/)
  await assertSound(t, page, faults)
})

test('request: a module that had nothing to do is idle, with its reason', async (t) => {
  await using open = await browser.open(address(`#/request/${idOf(unpruned)}`))
  const { page, faults } = open
  const step = page.getByRole('listitem').filter({ hasText: 'prune-tools' })
  await step.getByText('12 tools: nothing to prune', { exact: true }).waitFor()
  t.is(await step.locator('.action').textContent(), 'idle')
  await assertSound(t, page, faults)
})

test('requests: the address holds the search; arrow keys move through the list, and Enter opens one', async (t) => {
  await using open = await browser.open(address('#/requests?text=compress'))
  const { page, faults } = open
  await page.locator(`a[href="#/request/${idOf(shortened)}"]`).waitFor()
  t.is(await page.locator(`a[href="#/request/${idOf(answered)}"]`).count(), 0)
  await assertSound(t, page, faults)
  await page.goto(address('#/requests'))
  await page.locator(`a[href="#/request/${idOf(answered)}"]`).waitFor()
  const links = page.getByRole('table').getByRole('link')
  await links.first().focus()
  await page.keyboard.press('ArrowDown')
  await page.locator('[data-index="1"] a:focus').waitFor()
  await page.keyboard.press('Home')
  await page.locator('[data-index="0"] a:focus').waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Timeline' }).waitFor()
  t.deepEqual(faults, [])
})

test('playground: a past request runs through two pipelines, and their figures are side by side', async (t) => {
  await using open = await browser.open(address(`#/playground?from=${idOf(shortened)}`))
  const { page, faults } = open
  const body = page.getByLabel('Body, sent to /v1/messages')
  await body.waitFor()
  t.regex(await body.inputValue(), /List the files\./)
  t.is(await page.getByRole('textbox', { name: 'Pipeline A' }).inputValue(), 'compress')
  await page.getByRole('button', { name: 'Run both' }).click()
  const [a, b] = [page.getByRole('article', { name: 'A' }), page.getByRole('article', { name: 'B' })]
  await a.getByRole('link', { name: 'Details' }).waitFor()
  await b.getByRole('link', { name: 'Details' }).waitFor()
  const [, fewer, more] = await page.getByRole('row', { name: 'Tokens in' }).getByRole('cell').allTextContents()
  t.log(`tokens: ${fewer}, ${more}`)
  t.is(await a.getByText('shortened').count(), 1)
  await assertSound(t, page, faults)
})

test('playground: three models answer one message, with the cost, tokens and time of each', async (t) => {
  await using open = await browser.open(address('#/playground'))
  const { page, faults } = open
  await page.getByLabel('Model', { exact: true }).fill('claude-sonnet-4-5')
  await page.getByLabel(/^Compare with/).fill('claude-haiku-4-5, claude-opus-4-8, claude-sonnet-4-5')
  await page.getByRole('button', { name: 'Run 3 models' }).click()
  const figures = page.getByRole('region', { name: 'Figures compared' })
  await figures.getByRole('columnheader', { name: 'claude-opus-4-8' }).waitFor()
  const heads = await figures.getByRole('columnheader').allTextContents()
  t.deepEqual(heads, ['Figure', 'claude-sonnet-4-5', 'claude-haiku-4-5', 'claude-opus-4-8'])
  for (const name of ['Cost', 'Tokens in', 'Tokens out', 'Took']) {
    const cells = figures.getByRole('row').filter({ has: page.getByRole('rowheader', { name, exact: true }) })
    const texts = await cells.getByRole('cell').allTextContents()
    t.true(texts.length === 3 && texts.every((text) => /\d/.test(text)), `${name}: ${texts}`)
  }
  await page.getByRole('article', { name: 'Result of claude-haiku-4-5' }).waitFor()
  await assertSound(t, page, faults)
})

test('playground: a pipeline is composed with the keyboard, and its steps are dragged', async (t) => {
  await using open = await browser.open(address('#/playground'))
  const { page, faults } = open
  const text = page.getByRole('textbox', { name: 'Pipeline B' })
  await text.fill('compress')
  await page.getByRole('button', { name: '+ cost-guard' }).last().press('Enter')
  t.is(await text.inputValue(), 'compress,cost-guard')
  const steps = page.getByRole('list', { name: 'Steps of Pipeline B' })
  await steps.getByRole('button', { name: 'cost-guard', exact: true }).press('ArrowLeft')
  t.is(await text.inputValue(), 'cost-guard,compress')
  await steps.getByRole('button', { name: 'compress', exact: true }).press('Delete')
  t.is(await text.inputValue(), 'cost-guard')
  await text.fill('exact-cash')
  await page.getByLabel('Message').fill('Hello')
  await page.getByRole('button', { name: 'Run both' }).click()
  await page.getByRole('article', { name: 'B' }).getByText('Did you mean `exact-cache`?').waitFor()
  await assertSound(t, page, faults)
  await page.getByRole('textbox', { name: 'Pipeline A' }).fill('patterns,compress,cost-guard')
  const dragged = page.getByRole('list', { name: 'Steps of Pipeline A' })
  const chip = (name: string) => dragged.getByRole('button', { name, exact: true })
  await chip('cost-guard').dragTo(chip('patterns'))
  t.is(await page.getByRole('textbox', { name: 'Pipeline A' }).inputValue(), 'cost-guard,patterns,compress')
})

test.serial('pages: each is sound, and shows its figures, its state, or how to begin', async (t) => {
  await using open = await browser.open(address(''))
  const { page, faults } = open
  await page.getByText('1 of 2 look-ups').waitFor()
  await page.getByRole('figure').filter({ hasText: 'Money' }).locator('canvas').waitFor()
  await page.getByRole('rowheader', { name: 'anthropic/claude-sonnet-4-5' }).waitFor()
  await assertSound(t, page, faults)
  for (const [name, shown] of [
    ['keys', 'Local mode needs none'],
    ['billing', 'Local mode is free'],
    ['agents', 'The agent route is off'],
    ['settings', 'pipeline.default'],
    ['start', 'set by ANTHROPIC_API_KEY'],
    ['plugins', 'Enforces caps per request'],
  ] as const) {
    await page.goto(address(`#/${name}`))
    await page.getByText(shown).first().waitFor()
    await assertSound(t, page, faults)
  }
  await page.getByLabel('Search').fill('Longest text of several words that no plugin has')
  await page.getByText('No matching plugins').waitFor()
  await page.getByLabel('Search').fill('ttl')
  await page.getByRole('rowheader', { name: 'ttl' }).first().waitFor()
  await assertSound(t, page, faults)
})

test.serial(
  'settings: a change is previewed, made, listed with its author, and undone; a plugin is switched off and on',
  async (t) => {
    await using open = await browser.open(address('#/settings'))
    const { page, faults } = open
    await page.getByRole('button', { name: 'Change costs.instance_per_day' }).click()
    await page.getByRole('textbox', { name: 'costs.instance_per_day' }).fill('100000')
    await page.getByRole('button', { name: 'Preview' }).click()
    await page.getByText('No caller has reached it.').waitFor()
    t.deepEqual(await faultsOfLooks(page), [], 'the preview')
    await page.getByRole('button', { name: 'Change it' }).click()
    const changes = page.getByRole('region', { name: 'Changes of settings' })
    await changes.getByText('operator').waitFor()
    await page.getByRole('button', { name: 'Undo costs.instance_per_day' }).click()
    await changes.getByRole('row').nth(2).waitFor()
    await assertSound(t, page, faults)
    await page.goto(address('#/plugins'))
    await page.getByText('loop-guard', { exact: true }).click()
    await page.getByRole('button', { name: 'Switch off loop-guard' }).click()
    await page.getByRole('button', { name: 'Switch on loop-guard' }).click()
    await page.getByRole('button', { name: 'Switch off loop-guard' }).waitFor()
    await page.getByRole('region', { name: 'Figures of loop-guard' }).waitFor()
    await assertSound(t, page, faults)
  },
)

test('pages: all are sound at 380 px in the dark', async (t) => {
  const narrow = { viewport: { width: 380, height: 800 }, colorScheme: 'dark' } as const
  await using open = await browser.open(address(''), narrow)
  const { page, faults } = open
  for (const [hash, title] of [
    ['', 'Overview'],
    ['live', 'Live'],
    ['requests', 'Requests'],
    [`request/${idOf(shortened)}`, 'claude-sonnet-4-5'],
    ['conversations', 'Conversations'],
    ['playground', 'Playground'],
    ['plugins', 'Plugins'],
    ['settings', 'Effective settings'],
    ['start', 'Start'],
  ] as const) {
    await page.goto(address(`#/${hash}`))
    await page.getByRole('heading', { level: 1, name: title }).waitFor()
    await page.locator('.busy').waitFor({ state: 'detached' })
    await assertSound(t, page, faults)
  }
})

test('overview: a group leads to its requests and their totals; a view is kept by its name', async (t) => {
  await using open = await browser.open(address('#/?by=module'), { viewport: { width: 390, height: 900 } })
  const { page, faults } = open
  const assertSoundAtAllWidths = async () => {
    for (const width of [390, 1024, 1440]) {
      await page.setViewportSize({ width, height: 900 })
      await assertSound(t, page, faults)
    }
  }
  await page.getByLabel('Group by').selectOption({ label: 'By model' })
  await page.getByLabel('Group by').selectOption({ label: 'By module' })
  await page.getByRole('rowheader', { name: 'compress' }).waitFor()
  await assertSoundAtAllWidths()
  await page.getByRole('link', { name: 'compress', exact: true }).click()
  await page
    .getByLabel('Totals')
    .getByText(/^\d+ requests?$/)
    .waitFor()
  await page.locator(`a[href="#/request/${idOf(shortened)}"]`).waitFor()
  t.is(await page.locator(`a[href="#/request/${idOf(answered)}"]`).count(), 0)
  await page.getByRole('button', { name: 'Save view' }).click()
  await page.getByLabel('Name of this view').fill('shortened')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Forget “shortened”' }).waitFor()
  await assertSoundAtAllWidths()
  const filter = page.getByRole('link', { name: 'Module: compress' })
  await filter.click()
  await filter.waitFor({ state: 'detached' })
  await page.getByLabel('Saved views').selectOption('shortened')
  await filter.waitFor()
})

test('route: an address that is chosen before the page of another is painted is followed', async (t) => {
  await using open = await browser.open(address('#/requests'))
  const { page } = open
  const filter = page.getByRole('link', { name: 'Module: compress' })
  for (let times = 0; times < 10; times++) {
    await page.evaluate(`location.hash = '#/requests?module=compress'`)
    await filter.waitFor()
    await page.evaluate(`new Promise((resolve) => {
      addEventListener('hashchange', () => setTimeout(() => {
        location.hash = '#/requests?module=compress'
        resolve()
      }), { once: true })
      location.hash = '#/requests'
    })`)
    await filter.waitFor()
    t.is(await page.evaluate('location.hash'), '#/requests?module=compress')
    await page.evaluate(`location.hash = '#/requests'`)
    await filter.waitFor({ state: 'detached' })
  }
})

test('route: an address that changes before the first page is drawn is followed', async (t) => {
  await using open = await browser.open(address('#/settings'))
  const { page, faults } = open
  await page.addInitScript(CHANGE_AT_ONCE)
  await page.goto(address('?'))
  await page.getByRole('heading', { level: 1, name: 'Plugins' }).waitFor()
  t.deepEqual(faults, [])
})

/** Changes the address as soon as anything is drawn. */
const CHANGE_AT_ONCE = `new MutationObserver((changes, observer) => {
  if (document.querySelector('#app')?.firstChild == null) return
  observer.disconnect()
  location.hash = '#/plugins'
}).observe(document, { childList: true, subtree: true })`

const HOSTILE = [
  '<script>globalThis.hacked = 1</script><img src=x onerror="globalThis.hacked = 1">',
  'https://elsewhere.example/pixel.png \u0000\u001b[2J\u202e turned',
  'x'.repeat(5 * 1024 * 1024),
].join('\n')

test('request: hostile text stays text, however long', async (t) => {
  const extra = {
    messages: [{ role: 'user', content: HOSTILE }],
    tools: [{ name: 'img_onerror_alert', description: HOSTILE.slice(0, 300), input_schema: { type: 'object' } }],
  }
  const reply = await fixture.ask('', { pipe: 'none', extra })
  const model = await fixture.ask('', { pipe: 'none', extra: { model: '<img src=x onerror=hacked=1>' } })
  t.is(reply.status, 200)
  await untilRecorded(fixture.gateway, model)
  await using open = await browser.open(address(`#/request/${idOf(model)}`))
  const { page, faults } = open
  const body = page.getByRole('region', { name: 'Request, as sent by the client' })
  await body.or(page.getByText('There is no such request')).first().waitFor()
  t.is(await page.evaluate('globalThis.hacked'), undefined)
  await page.goto(address(`#/request/${idOf(reply)}`))
  await page.reload()
  await page.getByText('5.0 MB, kept in part').first().waitFor()
  const text = (await body.textContent()) ?? ''
  t.true(text.includes('<script>globalThis.hacked = 1</script>'))
  t.true(text.length < 1_000_000, `${text.length} characters are in the document`)
  t.is(await page.evaluate('globalThis.hacked'), undefined)
  t.deepEqual(faults, [])
})

test('alerts: explains how to switch them on; lists channels and alerts, and sends a test', async (t) => {
  await using open = await browser.open(address('#/alerts'))
  const { page, faults } = open
  await page.getByText('Alerts are off').waitFor()
  await assertSound(t, page, faults)
  const delivery = { channel: 'ops', state: 'due', tries: 2, error: 'status 503', sentAtMs: null }
  const alert = { id: 'alert_1', atMs: Date.now(), kind: 'cap', severity: 'warning', subject: 'instance', details: {} }
  const channels = [{ name: 'ops', kind: 'slack', kinds: ['cap', 'spend'] }]
  const data = [{ ...alert, title: 'All keys together spent 80 %.', deliveries: [delivery] }]
  await page.route('**/dashboard/api/alerts', (route) =>
    route.fulfill({ json: { isOn: true, channels, caps: [80, 100], data } }),
  )
  await page.route('**/dashboard/api/alerts/test', (route) => route.fulfill({ json: { sent: true } }))
  await page.getByRole('button', { name: 'Refresh' }).click()
  await page.getByText('All keys together spent 80 %.').waitFor()
  await page.getByRole('cell', { name: 'caps at 80, 100 %, spend' }).waitFor()
  await page.getByText('after 2 tries: status 503').waitFor()
  await page.getByRole('button', { name: 'Send a test to ops' }).click()
  await page.getByText('Sent.').waitFor()
  await assertSound(t, page, faults)
})
