import test from 'ava'
import { seriousFaults, startBrowser } from '../support/browser.ts'
import { isDrill } from '../support/drill.ts'
import { openFixture } from '../support/fixture.ts'
import { ask } from '../support/http-client.ts'
import { untilRecorded } from '../support/recorded.ts'

const RULES = 'Follow the rules of the house. '.repeat(300)

const [fixture, browser] = await Promise.all([openFixture(), startBrowser()])
const scenario = fixture.scenario({
  kind: 'answer',
  usage: { input_tokens: 12, cache_read_input_tokens: 0, cache_creation_input_tokens: 20_000 },
})
const say = (date: string) =>
  scenario.send({
    headers: { 'x-claude-code-session-id': 'one' },
    body: ask('hi', {
      system: [{ type: 'text', text: `${RULES}Today is ${date}.`, cache_control: { type: 'ephemeral' } }],
    }),
  })
await say('2026-11-23')
const lost = await say('2026-11-24')
await untilRecorded(fixture.gateway, lost)

test.after.always('close the browser and the fixture', async () => {
  await browser.close()
  await fixture.close()
})

for (const colorScheme of ['light', 'dark'] as const)
  test(`losses: the overview has them by reason, and the request its own (${colorScheme})`, async (t) => {
    await using open = await browser.open(`${fixture.gateway.url}/`, {
      colorScheme,
      viewport: { width: 1280, height: 900 },
    })
    const { page, faults } = open
    for (const width of [1280, 820, 390]) {
      await page.setViewportSize({ width, height: 900 })
      await page.reload()
      const row = page.getByRole('row').filter({ hasText: 'Changed system text' })
      await row.waitFor()
      t.regex((await row.textContent()) ?? '', /^Changed system text1[\d.,k\s]+\$0\.\d+$/)
      if (isDrill) t.deepEqual(await seriousFaults(page), [])
      const room = await page.evaluate<number>('innerWidth - document.documentElement.scrollWidth')
      t.true(room >= 0, `the page is ${-room} px wider than its window`)
    }
    await page.goto(`${fixture.gateway.url}/#/request/${String(lost.headers['x-svc-receipt'])}`)
    await page.getByText(/tokens were not read: the system text changed at character \d+: a date/).waitFor()
    t.deepEqual(faults, [])
  })
