import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test from 'ava'
import { CLOUD } from '../support/accounts.ts'
import { runCommandInThread } from '../support/command-in-thread.ts'
import { eventually } from '../support/eventually.ts'
import type { Gateway } from '../support/gateway.ts'
import { ask, send } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'
import { booksOf, grantToken } from '../support/stripe/machine-payments.ts'
import { AGENT, credential, type ReadChallenge, readChallenge } from './agent-fixture.ts'
import { openRow, type Row } from './row.ts'

const BODY = ask('what is the toll')
const HOUR_S = 3600

/** A payment of a row, with everything to send it again. */
interface Begun {
  readonly challenge: ReadChallenge
  readonly token: string
}

async function begin({ stripe }: Row, { url }: Gateway): Promise<Begun & { status: number }> {
  const challenge = readChallenge(await send(url, { path: AGENT, body: BODY, headers: { authorization: undefined } }))
  const token = grantToken(stripe.world)
  return { challenge, token, status: (await pay(url, { challenge, token })).status }
}

function pay(url: string, { challenge, token }: Begun) {
  const headers = { authorization: credential(challenge, token) }
  return send(url, { path: AGENT, body: BODY, headers })
}

const stateOf = async ({ sql }: Row, { challenge }: Begun) =>
  (await sql(`select state, reference from payment where id = '${challenge.id}'`))[0]

/** Ages all events at Stripe by some hours. */
function age({ stripe }: Row): void {
  for (const intent of stripe.world.objects.all('payment_intent')) intent.created = stripe.world.nowS() - 5 * HOUR_S
}

/** Lets a day pass: the first gateway sweeps, at the latest one that starts. Returns the counts of its log line. */
async function sweep(row: Row): Promise<Record<string, number>> {
  const linesOf = (gateway: Gateway) =>
    gateway
      .log()
      .split('\n')
      .filter((line) => line.includes('payment.swept'))
  const before = row.gateways.flatMap(linesOf).length
  await row.sql('delete from billing_task returning name')
  const starting = await row.start()
  const fresh = () => [...row.gateways.flatMap(linesOf).slice(before), ...linesOf(starting)][0]
  await eventually(() => fresh() !== undefined, 'swept')
  const line = String(fresh())
  await starting.stop()
  return JSON.parse(line)
}

test('reconcile: the daily sweep mends what Stripe has and the database has lost or given up', async (t) => {
  const row = await openRow(t)
  const [gateway] = row.gateways as [Gateway]
  const delivered = await begin(row, gateway)
  t.is(delivered.status, 200)
  row.provider.reply({ kind: 'error', status: 500 })
  const held = await begin(row, gateway)
  const lostHold = await begin(row, gateway)
  const givenUpHold = await begin(row, gateway)
  const givenUpCapture = await begin(row, gateway)
  row.provider.reply({ kind: 'answer' })
  const lostCapture = await begin(row, gateway)
  // Holds of other services of the same account are left alone.
  const foreign = row.stripe.world.objects.add({
    id: 'pi_foreign',
    object: 'payment_intent',
    status: 'requires_capture',
    amount: 50,
    currency: 'usd',
    capture_method: 'manual',
    metadata: { mpp_challenge_id: 'theirs', mpp_realm: 'another.test' },
    created: row.stripe.world.nowS(),
  })
  const is = ({ challenge }: Begun) => `id = '${challenge.id}'`
  await row.sql(`delete from payment where ${is(lostHold)} or ${is(lostCapture)} returning id`)
  await row.sql(
    `update payment set state = 'expired', ended_at_ms = ${Date.now()}, due_at_ms = null
     where ${is(givenUpHold)} or ${is(givenUpCapture)} returning id`,
  )
  const reference = String((await stateOf(row, givenUpCapture))?.reference)
  Object.assign(row.stripe.world.objects.get('payment_intent', reference), { status: 'succeeded' })
  t.like(await sweep(row), { 'to-release': 0, adopted: 1, recovered: 1 }, 'what is young and held is left alone')
  age(row)
  // Those that were held have their reaper; this one looks at payments that it cannot see.
  t.like(await sweep(row), { agrees: 4, 'to-release': 2, adopted: 0, recovered: 0, disagrees: 0 })
  t.like(await sweep(row), { agrees: 6, 'to-release': 0 })
  const books = ({ challenge }: Begun) => booksOf(row.stripe.world, challenge.id).statuses[0]
  t.deepEqual([lostHold, givenUpHold, lostCapture, held].map(books), [
    'canceled',
    'canceled',
    'succeeded',
    'requires_capture',
  ])
  t.is(foreign.status, 'requires_capture')
  t.is((await stateOf(row, lostCapture))?.state, 'captured')
  // A payment that was given up and is taken after all is owed to its payer, and not charged again.
  const answer = await pay(gateway.url, givenUpCapture)
  t.is(answer.status, 200, answer.text)
  t.like(booksOf(row.stripe.world, givenUpCapture.challenge.id), { intents: 1, capturedCents: 50 })
  // After the loss of a database no client can prove to be the payer.
  t.is((await pay(gateway.url, lostCapture)).status, 402)
  const counted = await row.sql(
    "select sum(amount_cents) as cents from payment where state in ('captured', 'consumed')",
  )
  t.is(Number(counted[0]?.cents), booksOf(row.stripe.world).capturedCents)
})

test('reconcile: a webhook names the payment to fetch, which is reconciled at once', async (t) => {
  const row = await openRow(t, {
    env: { ...CLOUD, SVC_PROVIDERS_SHARED: 'true', STRIPE_WEBHOOK_SECRET: 'whsec_standin' },
  })
  const [gateway] = row.gateways as [Gateway]
  const { world } = row.stripe
  // The process hears nothing of what Stripe has done.
  row.stripe.fail(({ path: where }) => (where.endsWith('payment_intents') ? { kind: 'lose-after' } : undefined))
  const begun = await begin(row, gateway)
  t.is(begun.status, 503)
  row.stripe.mend()
  t.deepEqual(await stateOf(row, begun), { state: 'claimed', reference: null })
  const [event] = world.events.filter(({ type }) => type === 'payment_intent.amount_capturable_updated')
  if (event === undefined) return t.fail('no event')
  t.is((await row.stripe.deliver(event, gateway.url)).status, 200)
  const [intent] = world.objects.all('payment_intent')
  t.deepEqual(await stateOf(row, begun), { state: 'claimed', reference: intent?.id })
  // It was given up here, and taken there: the event is an old one, and the fetched state is new.
  await row.sql(`update payment set state = 'expired', ended_at_ms = ${Date.now()}, due_at_ms = null returning id`)
  Object.assign(intent ?? {}, { status: 'succeeded' })
  t.is((await row.stripe.deliver({ ...event, id: 'evt_again' }, gateway.url)).status, 200)
  t.is((await stateOf(row, begun))?.state, 'captured')
  t.is((await pay(gateway.url, begun)).status, 200)
  t.deepEqual(booksOf(world), { intents: 1, capturedCents: 50, heldCents: 0, statuses: ['succeeded'] })
  // An unsigned event changes nothing.
  t.is((await row.stripe.deliver(event, gateway.url, { secret: 'whsec_other' })).status, 400)
})

test('reconcile: a payment whose process died before it heard of the money is not given up by the reaper', async (t) => {
  const row = await openRow(t, { env: { SVC_MPP_SETTLEMENT: 'automatic' } })
  const [gateway] = row.gateways as [Gateway]
  row.stripe.fail(({ path: where }) => (where.endsWith('payment_intents') ? { kind: 'lose-after' } : undefined))
  const begun = await begin(row, gateway)
  t.is(begun.status, 503)
  row.stripe.mend()
  await row.sql('update payment set due_at_ms = 1000, lease_until_ms = 0 returning id')
  const reaper = await row.start()
  await eventually(async () => (await stateOf(row, begun))?.state === 'captured', 'found at Stripe')
  await reaper.stop()
  t.is((await pay(gateway.url, begun)).status, 200)
  t.deepEqual(booksOf(row.stripe.world), { intents: 1, capturedCents: 50, heldCents: 0, statuses: ['succeeded'] })
})

test('report: sums by day and book are those of Stripe, to the cent', async (t) => {
  const row = await openRow(t)
  const [gateway] = row.gateways as [Gateway]
  for (let i = 0; i < 3; i++) t.is((await begin(row, gateway)).status, 200)
  const session = { path: '/v1/agent/sessions', body: { calls: 33 } }
  const challenge = readChallenge(await send(gateway.url, { ...session, headers: { authorization: undefined } }))
  const headers = { authorization: credential(challenge, grantToken(row.stripe.world, { maxCents: 165 })) }
  t.is((await send(gateway.url, { ...session, headers })).status, 201)
  const declined = grantToken(row.stripe.world, { card: 'declined' })
  const fresh = readChallenge(
    await send(gateway.url, { path: AGENT, body: BODY, headers: { authorization: undefined } }),
  )
  t.is((await pay(gateway.url, { challenge: fresh, token: declined })).status, 402)
  row.provider.reply({ kind: 'error', status: 500 })
  await begin(row, gateway)
  const letGo = await begin(row, gateway)
  row.provider.reply({ kind: 'answer' })
  await row.sql(`update payment set due_at_ms = 1000 where id = '${letGo.challenge.id}' returning id`)
  const startedAtMs = Date.now()
  const yesterday = startedAtMs - 24 * HOUR_S * 1000
  const reaper = await row.start()
  await eventually(async () => (await stateOf(row, letGo))?.state === 'expired', 'let go')
  await reaper.stop()
  const [first] = await row.sql("select id from payment where state = 'consumed' limit 1")
  await row.sql(`update payment set captured_at_ms = ${yesterday} where id = '${first?.id}' returning id`)
  const { code, stdout, stderr } = await runCommandInThread(['mpp', 'report', '--json'], { env: row.env })
  t.is(code, 0, stderr)
  const report = JSON.parse(stdout)
  const stripes = booksOf(row.stripe.world)
  t.like(report, {
    currency: 'usd',
    captured_cents: stripes.capturedCents,
    totals: {
      open: { payments: 1, cents: stripes.heldCents },
      delivered: { payments: 4, cents: 3 * 50 + 165 },
      owed: { payments: 0, cents: 0 },
      'written-off': { payments: 1, cents: 50 },
      none: { payments: 1, cents: 50 },
    },
  })
  t.is(stripes.capturedCents, 315)
  const days = report.days as { day: string; book: string; cents: number }[]
  const byDay = Map.groupBy(
    days.filter(({ book }) => book === 'delivered'),
    ({ day }) => day,
  )
  t.true(byDay.size >= 2, 'yesterday and today, or more when the day ends meanwhile')
  t.true(byDay.has(new Date(yesterday).toISOString().slice(0, 10)))
  const text = await runCommandInThread(['mpp', 'report'], { env: row.env })
  t.regex(text.stdout, /^total +delivered +4 +3\.15 USD$/m)
  t.is((await runCommandInThread(['mpp', 'report', '--days', '0'], { env: row.env })).code, 2)
  const nothing = mkdtempSync(path.join(tmpdir(), 'turnpike-empty-'))
  const empty = await runCommandInThread(['mpp', 'report'], { env: { SVC_DATA_DIR: nothing } })
  t.is(empty.stdout, 'No payments.\n')
  const firstDay = (atMs: number) => new Date(atMs - 29 * 24 * HOUR_S * 1000).toISOString().slice(0, 10)
  t.true([firstDay(startedAtMs), firstDay(Date.now())].includes(String(valueAt(report, 'since'))))
})
