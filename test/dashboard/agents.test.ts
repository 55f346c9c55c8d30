import test from 'ava'
import { openAgentFixture, readChallenge } from '../payments/agent-fixture.ts'
import { isFirstLook, seriousFaults, startBrowser } from '../support/browser.ts'
import { ask, send } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'
import { untilRecorded } from '../support/recorded.ts'

/*
 * A gateway in local mode that takes payments: one is answered, one fails, and a session is bought and used.
 */
const [agentFixture, browser] = await Promise.all([openAgentFixture(), startBrowser()])
const get = (path: string) =>
  send(agentFixture.url, {
    method: 'GET',
    path: `/dashboard/api/${path}`,
    headers: { host: new URL(agentFixture.url).host },
  })

const paying = agentFixture.agent()
const BODY = ask('what is the toll')
const challenge = await paying.ask(BODY)
const paid = await paying.pay(BODY, challenge, paying.grant())

const failing = agentFixture.agent(() => ({ kind: 'error', status: 500 }))
const unanswered = await failing.ask(BODY)
await failing.pay(BODY, unanswered, failing.grant())

const SESSIONS = '/v1/agent/sessions'
const buyer = agentFixture.agent()
const offer = readChallenge(await buyer.send({ path: SESSIONS }))
const token = Buffer.from(JSON.stringify({ challenge: offer, payload: { spt: buyer.grant() } })).toString('base64url')
const session = await buyer.send({ path: SESSIONS, headers: { authorization: `Payment ${token}` } })
const used = await buyer.send({
  body: BODY,
  headers: { authorization: String(valueAt(session.json, 'authorization')) },
})

const receiptId = ({ headers }: typeof paid) => String(headers['x-svc-receipt'])
for (const reply of [paid, used]) await untilRecorded(agentFixture, reply)

test.after.always('close the browser and the agent fixture', async () => {
  await browser.close()
  await agentFixture.close()
})

test('agent ledger: payments are listed, searched, and lead to their requests and receipts', async (t) => {
  t.deepEqual([paid.status, session.status, used.status], [200, 201, 200])
  await using open = await browser.open(`${agentFixture.url}/#/agents`)
  const { page, faults } = open
  const list = page.getByRole('table', { name: 'Payments, newest first' })
  await list.getByRole('cell', { name: '9 of 10' }).waitFor()
  t.is(await list.getByText('delivered').count(), 2)
  t.is(await list.getByText('open', { exact: true }).count(), 1)
  await page.getByRole('figure').filter({ hasText: 'Captured by day' }).locator('canvas').waitFor()
  await page.getByLabel('Search').fill('sessions')
  await list.locator('[aria-rowindex="3"]').waitFor({ state: 'detached' })
  await list.getByRole('link').click()
  await page.getByRole('heading', { name: 'Requests with its token' }).waitFor()
  await page.locator(`a[href="#/request/${receiptId(used)}"]`).waitFor()
  if (isFirstLook(page)) t.deepEqual(await seriousFaults(page), [])
  await page.goto(`${agentFixture.url}/#/agents/${challenge.id}`)
  await page.locator(`a[href="#/request/${receiptId(paid)}"]`).click()
  await page.getByText('The receipt itself').click()
  await page.getByText(`"challenge_id": "${challenge.id}"`).waitFor()
  t.deepEqual(faults, [])
})

test('agent ledger: is sound at 380 px in the dark, and shows when nothing matches', async (t) => {
  const narrow = { viewport: { width: 380, height: 800 }, colorScheme: 'dark' } as const
  await using open = await browser.open(`${agentFixture.url}/#/agents`, narrow)
  const { page, faults } = open
  await page.getByRole('table').waitFor()
  if (isFirstLook(page)) t.deepEqual(await seriousFaults(page), [])
  await page.getByLabel('Outcome').selectOption('released')
  await page.getByText('No matching payments').waitFor()
  t.true(await page.evaluate<boolean>('innerWidth >= document.documentElement.scrollWidth'))
  t.deepEqual(faults, [])
})

test('agent ledger: its routes are bounded, name the expected values, and have nothing of tokens', async (t) => {
  const first = await get('payments?limit=2')
  t.is((valueAt(first.json, 'data') as unknown[]).length, 2)
  const rest = await get(`payments?limit=2&after=${valueAt(first.json, 'next_cursor')}`)
  t.is((valueAt(rest.json, 'data') as unknown[]).length, 1)
  t.is(valueAt(rest.json, 'next_cursor'), null)
  t.notRegex(first.text + rest.text, /agent:|spt_/)
  for (const [query, words] of [
    ['limit=501', /limit/],
    ['after=yesterday', /next_cursor/],
    ['book=lost', /book/],
  ] as const) {
    const reply = await get(`payments?${query}`)
    t.is(reply.status, 400)
    t.regex(String(valueAt(reply.json, 'error.message')), words)
  }
  t.is((await get('payments/nothing')).status, 404)
  const days = valueAt((await get('payments/days')).json, 'data')
  t.true(JSON.stringify(days).includes('"book":"delivered","payments":2,"cents":100'))
  const [head, ...lines] = (await get('payments.csv?book=delivered')).text.trim().split('\r\n')
  t.regex(head ?? '', /^challenge,at,book,state,amount,/)
  t.is(lines.length, 2)
  // Of 64 ids one begins with a hyphen, which the file gives a quote, so that no spreadsheet takes it for a formula.
  const id = challenge.id.replace(/^-/, "'-")
  t.true(lines.some((line) => line.startsWith(`${id},`) && line.includes(',delivered,consumed,0.50,usd,')))
})
