import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test from 'ava'
import { cutCells, startBrowser } from '../support/browser.ts'
import { startFixture } from '../support/cache-fixture.ts'
import { isDrill } from '../support/drill.ts'
import { eventually } from '../support/eventually.ts'
import { send } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'
import { copyRequest, rowsOf } from '../support/telemetry.ts'

/*
 * What the lists of requests say: which columns can be seen, what a figure means, what a mark means.
 */
const dataDir = await mkdtemp(path.join(tmpdir(), 'turnpike-lists-'))
const [fixture, browser] = await Promise.all([startFixture({ env: { SVC_DATA_DIR: dataDir } }), startBrowser()])
const { url } = fixture.gateway

const UNKNOWN = 'claude-nobody-knows-7'
const USAGE = { input_tokens: 1000, cache_read_input_tokens: 200, cache_creation_input_tokens: 30, output_tokens: 7 }
const ALL_INPUT = '1,230'

fixture.script('cached', { kind: 'answer', usage: USAGE })
fixture.script('cut short', { kind: 'answer', cutAfterBytes: 700 })
const cached = await fixture.ask('cached', { pipe: 'none' })
await fixture.ask('of no known price', { pipe: 'none', extra: { model: UNKNOWN } })
await fixture.ask('cut short', { pipe: 'none', stream: true }).catch(() => {})
await eventually(async () => {
  const { json } = await send(url, { method: 'GET', path: '/dashboard/api/requests' })
  return (valueAt(json, 'data') as unknown[]).length === 3
}, 'three rows')
const idOfCached = String(cached.headers['x-svc-receipt'])

test.after.always('close the browser and the fixture', async () => {
  await browser.close()
  await fixture.close()
  await rm(dataDir, { recursive: true, force: true })
})

for (const hash of ['#/requests', '#/live'])
  test(`lists: ${hash} shows Cost and Total whole at 1024 and 390 px, and how a request ended`, async (t) => {
    await using open = await browser.open(`${url}/${hash}`)
    const { page } = open
    for (const width of [1024, 390]) {
      await page.setViewportSize({ width, height: 800 })
      await page.reload()
      await page.locator('.row').nth(2).waitFor()
      t.deepEqual(await cutCells(page, '.cell.time, .cell.cost, .cell.total'), [])
      const status = page.locator('.cell.status').filter({ hasText: '200 incomplete' })
      t.is(await status.count(), 1)
      t.true(
        (await status.evaluate((element) => element.scrollWidth - element.clientWidth)) <= 0,
        'the status is whole',
      )
    }
  })

test('lists: the page of a request that did not end well begins with the reason', async (t) => {
  await using open = await browser.open(`${url}/#/requests?ended=failed`)
  const { page } = open
  await page.locator('.row .time a').click()
  const reason = page.locator('.reason', { has: page.getByRole('heading', { name: 'Why it failed' }) })
  t.regex((await reason.textContent()) ?? '', /The reply broke off before its end\..*The client received: /)
})

test('lists: tokens in are the same on all pages, those of the provider’s cache included', async (t) => {
  await using open = await browser.open(`${url}/#/requests?text=${idOfCached}`)
  const { page } = open
  await page.locator('.row .tokens').getByText(`${ALL_INPUT} / 7`).waitFor()
  await page.goto(`${url}/#/request/${idOfCached}`)
  const fact = page.locator('dl.facts div').filter({ hasText: 'Tokens in' })
  await fact.getByText('1,000 fresh, 200 from the provider’s cache, 30 into it').waitFor()
  t.true((await fact.locator('dd').textContent())?.startsWith(ALL_INPUT))
  await page.goto(`${url}/#/`)
  const row = page.getByRole('row').filter({ hasText: 'anthropic/claude-sonnet-4-5' })
  await row.waitFor()
  const figures = page.locator('.card').filter({ hasText: 'Tokens' })
  const [, input = ''] = /([\d,]+) in/.exec((await figures.textContent()) ?? '') ?? []
  t.true(Number(input.replaceAll(',', '')) >= 1230, input)
})

test('lists: a model whose price is not known is marked where its cost is shown', async (t) => {
  await using open = await browser.open(`${url}/#/requests?text=${UNKNOWN}`)
  const cost = open.page.locator('.row .cost')
  await cost.getByText(/^≤\$/).waitFor()
  t.regex((await cost.locator('[title]').getAttribute('title')) ?? '', /unknown.*ceiling/)
  await cost.locator('..').locator('.time a').click()
  await open.page.getByText('price unknown: the ceiling price').waitFor()
  const { text } = await send(url, { method: 'GET', path: `/dashboard/api/requests.csv?text=${UNKNOWN}` })
  const [head = '', row = ''] = text.split('\r\n')
  t.is(row.split(',')[head.split(',').indexOf('price_source')], 'ceiling')
})

test('lists: the file has all rows, however many', async (t) => {
  const most = isDrill ? 50_100 : 5_100
  const [{ id } = {}] = await rowsOf(dataDir, 'select id from usage_request limit 1')
  await copyRequest(dataDir, { id, times: most, modelAsked: `'copied'` })
  const { text } = await send(url, {
    method: 'GET',
    path: '/dashboard/api/requests.csv?text=copied',
    timeoutMs: 120_000,
  })
  t.is(text.split('\r\n').length, most + 2, 'a head, the rows, and the end of the last')
})
