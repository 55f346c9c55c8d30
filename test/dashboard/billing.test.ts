import test from 'ava'
import { openShop, type Shop } from '../billing/shop.ts'
import { sendAs, sessionToken } from '../support/accounts.ts'
import { seriousFaults, startBrowser, type TestBrowser } from '../support/browser.ts'
import { valueAt } from '../support/json.ts'
import { serveStripePages } from '../support/stripe/pages.ts'

const endings: (() => unknown)[] = []
let shop: Shop
let browser: TestBrowser
test.before(async () => {
  // People are sent back to the gateway itself.
  const env = { SVC_DASHBOARD_URL: '', SVC_SESSION_OPERATOR_CLAIM: 'role=operator' }
  shop = await openShop({ teardown: (end) => void endings.push(end) }, { env })
  browser = await startBrowser()
})
test.after.always(async () => {
  await browser.close()
  for (const end of endings.reverse()) await end()
})

const creditsOf = (user: string, query = '') =>
  sendAs(user, shop.url, { method: 'GET', path: `/dashboard/api/credits${query}` })

test.serial('billing: a user buys a plan on Stripe’s page, comes back, and opens the invoices', async (t) => {
  await using open = await browser.open(`${shop.url.replace('127.0.0.1', 'localhost')}/#/billing`)
  const { page, faults } = open
  await serveStripePages(page, shop.stripe, () => shop.deliver(t))
  await page.getByLabel('Session token').fill(await sessionToken('dora'))
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('Nothing yet.').waitFor()
  const mend = shop.stripe.fail(({ path }) =>
    path.startsWith('/v1/checkout') ? { kind: 'status', status: 402 } : undefined,
  )
  await page.getByRole('button', { name: 'Choose Pro' }).click()
  await page.getByRole('alert').waitFor()
  mend()
  await page.getByRole('button', { name: 'Choose Pro' }).click()
  await page.getByRole('heading', { name: 'Subscribe' }).waitFor()
  await page.getByRole('link', { name: 'Pay' }).click()
  await page.getByRole('button', { name: 'Card, plan and invoices' }).waitFor()
  t.true(page.url().endsWith('/#/billing'))
  await page.getByRole('cell', { name: /Credits of the plan/ }).waitFor()
  t.deepEqual(await seriousFaults(page), [])
  await page.getByRole('button', { name: 'Card, plan and invoices' }).click()
  await page.getByRole('heading', { name: 'Invoices' }).waitFor()
  await page.getByRole('link', { name: 'Back' }).click()
  await page.getByText('Auto-recharge').waitFor()
  t.deepEqual(
    faults.filter((fault) => !/^asked https:\/\/(checkout|billing)\.stripe\.test\//.test(fault)),
    [],
  )
})

test.serial('billing: the entries of credits are the account’s own, page by page', async (t) => {
  const { json } = await creditsOf('dora', '?limit=1')
  t.is(valueAt(json, 'has_more'), false)
  t.like(json, { data: [{ seq: 1, kind: 'grant' }] })
  const [entry] = valueAt(json, 'data') as { credits: number; creditsAfter: number }[]
  t.true(entry !== undefined && entry.credits > 0 && entry.credits === entry.creditsAfter)
  t.deepEqual((await creditsOf('dora', '?after=1')).json, { data: [], has_more: false })
  t.deepEqual((await creditsOf('emil')).json, { data: [], has_more: false })
  t.is((await creditsOf('dora', '?limit=0')).status, 400)
  t.is((await creditsOf('dora', '?accountId=emil')).status, 400)
})

test.serial('billing: payments of agents are for operators', async (t) => {
  for (const path of ['payments', 'payments.csv', 'payments/days', 'payments/x'])
    t.is((await sendAs('dora', shop.url, { method: 'GET', path: `/dashboard/api/${path}` })).status, 403, path)
})
