import test, { type ExecutionContext } from 'ava'
import type { Page } from 'playwright-core'
import { seriousFaults, startBrowser } from '../support/browser.ts'
import { startStage } from '../support/cache-stage.ts'
import type { JsonObject } from '../support/json.ts'

/*
 * One gateway in local mode, one browser; requests are made through the door before pages are looked at.
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

const [stage, browser] = await Promise.all([startStage(), startBrowser()])
const answered = await stage.ask('What is a ford?', { pipe: 'exact-cache,cost-guard' })
await stage.ask('What is a ford?', { pipe: 'exact-cache,cost-guard' })
const shortened = await stage.ask('', { pipe: 'compress', extra: TOOL_RESULT })

test.after.always('close the browser and the stage', async () => {
  await browser.close()
  await stage.close()
})

const address = (hash: string) => `${stage.gateway.url}/${hash}`
const idOf = ({ headers }: { headers: NodeJS.Dict<string | string[]> }) => String(headers['x-svc-receipt'])

/** Asserts that a page is sound: nothing refused by the policy, nothing asked of others, nothing serious for axe. */
async function assertSound(t: ExecutionContext, page: Page, faults: readonly string[]): Promise<void> {
  t.deepEqual(faults, [])
  t.deepEqual(await seriousFaults(page), [])
  const room = await page.evaluate<number>('innerWidth - document.documentElement.scrollWidth')
  t.true(room >= 0, `the page is ${-room} px wider than its window`)
}

test('overview: tells what requests cost and how many a cache answered', async (t) => {
  await using open = await browser.open(address(''))
  const { page, faults } = open
  await page.getByText('1 of 2 asked').waitFor()
  await page.getByRole('figure').filter({ hasText: 'Money' }).locator('canvas').waitFor()
  await page.getByRole('rowheader', { name: 'anthropic/claude-sonnet-4-5' }).waitFor()
  await assertSound(t, page, faults)
})

test('live: a request appears when its reply has ended', async (t) => {
  await using open = await browser.open(address('#/live'))
  const { page, faults } = open
  await page.getByText('connected', { exact: true }).waitFor()
  const reply = await stage.ask('Is anybody watching?')
  await page.locator(`a[href="#/request/${idOf(reply)}"]`).waitFor()
  await assertSound(t, page, faults)
})

test('requests: the address holds the search, which finds by pipeline', async (t) => {
  await using open = await browser.open(address('#/requests?text=compress'))
  const { page, faults } = open
  await page.locator(`a[href="#/request/${idOf(shortened)}"]`).waitFor()
  t.is(await page.locator(`a[href="#/request/${idOf(answered)}"]`).count(), 0)
  await assertSound(t, page, faults)
})

test('request: shows what a module changed, both bodies and a receipt that is genuine', async (t) => {
  await using open = await browser.open(address(`#/request/${idOf(shortened)}`))
  const { page, faults } = open
  await page.getByText('Genuine: it is as this gateway signed it.').waitFor()
  const diff = page.getByRole('region', { name: 'What compress changed' })
  t.true((await diff.locator('.less').count()) > 0 && (await diff.locator('.more').count()) > 0)
  t.regex(
    (await page.getByRole('region', { name: 'Request, as the client sent it' }).textContent()) ?? '',
    /List the files\./,
  )
  t.regex((await page.getByRole('region', { name: 'Reply, as the client got it' }).textContent()) ?? '', /end_turn/)
  await assertSound(t, page, faults)
})
