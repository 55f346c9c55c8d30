import test from 'ava'
import { seriousFaults, startBrowser } from '../support/browser.ts'
import { startFixture } from '../support/cache-fixture.ts'
import { isDrill } from '../support/drill.ts'
import type { JsonObject } from '../support/json.ts'
import { untilRecorded } from '../support/recorded.ts'

/*
 * Figures that are no single amount: the cost of a model whose price is not known is the most that it may be, and savings
 * with a provider that does not report its prompt cache are a range.
 */
const RESULT = JSON.stringify(
  Array.from({ length: 60 }, (_, index) => ({ name: `file-${index}.ts`, kind: 'file', owner: 'root' })),
  undefined,
  2,
)
const SHORTENED: JsonObject = {
  messages: [
    { role: 'user', content: 'List the files.' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'ls', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: RESULT }] },
  ],
}
const UNKNOWN = 'claude-of-no-list'
const AMOUNT = String.raw`\$[\d.]+`
const RANGE = new RegExp(`^${AMOUNT} to ${AMOUNT}$`)

const [fixture, browser] = await Promise.all([startFixture(), startBrowser()])
// The fixture's name of a prompt that is no text.
fixture.script('[object Object]', {
  kind: 'answer',
  usage: { input_tokens: 900, cache_read_input_tokens: null, cache_creation_input_tokens: null },
})
const shortened = await fixture.ask('', { pipe: 'compress', extra: SHORTENED })
const unknown = await fixture.ask('unknown', { pipe: 'none', extra: { model: UNKNOWN } })
await untilRecorded(fixture.gateway, unknown)

test.after.always('close the browser and the fixture', async () => {
  await browser.close()
  await fixture.close()
})

for (const colorScheme of ['light', 'dark'] as const)
  test(`overview: savings are a range and ceiling prices are marked, as on the request's own page (${colorScheme})`, async (t) => {
    await using open = await browser.open(`${fixture.gateway.url}/`, {
      colorScheme,
      viewport: { width: 1280, height: 900 },
    })
    const { page, faults } = open
    const card = (title: string) => page.locator('.card').filter({ has: page.getByRole('heading', { name: title }) })
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 900 })
      await page.reload()
      await page.getByRole('rowheader', { name: `anthropic/${UNKNOWN}` }).waitFor()
      const saved = (await card('Saved').locator('.value').textContent()) ?? ''
      t.regex(saved, RANGE)
      t.regex((await card('Spent').locator('.note').textContent()) ?? '', /ceiling price/)
      const row = page.getByRole('row').filter({ hasText: UNKNOWN })
      t.regex((await row.textContent()) ?? '', /ceiling/)
      t.deepEqual(faults, [])
      if (isDrill) t.deepEqual(await seriousFaults(page), [])
      const room = await page.evaluate<number>('innerWidth - document.documentElement.scrollWidth')
      t.true(room >= 0, `the page is ${-room} px wider than its window`)
      for (const name of await page.locator('.card .value').all())
        t.true(await name.evaluate((element) => element.scrollWidth <= element.clientWidth), 'a figure is cut off')
    }
    await page.goto(`${fixture.gateway.url}/#/request/${String(shortened.headers['x-svc-receipt'])}`)
    await page.getByRole('heading', { name: 'Timeline' }).waitFor()
    await page
      .getByText(new RegExp(`${AMOUNT} to ${AMOUNT}`))
      .first()
      .waitFor()
  })
