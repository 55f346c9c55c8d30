import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import test from 'ava'
import { isDrill, sampled } from '../support/drill.ts'
import { eventually } from '../support/eventually.ts'
import type { Gateway } from '../support/gateway.ts'
import { ask, type Reply, send } from '../support/http-client.ts'
import { createMigratedDatabase } from '../support/migrated-database.ts'
import { isPostgresExpected } from '../support/postgres.ts'
import { booksOf, grantToken } from '../support/stripe/machine-payments.ts'
import { AGENT, credential, endingAt, type ReadChallenge, readChallenge, receiptOf } from './agent-fixture.ts'
import { openRow } from './row.ts'

const BODY = ask('what is the toll')
/** Loaded into a gateway, its clock follows a file. */
const CLOCK = pathToFileURL(path.join(import.meta.dirname, '../faults/matrix/preloads/clock.ts')).href

async function challengeBy({ url }: Gateway, body = BODY): Promise<ReadChallenge> {
  return readChallenge(await send(url, { path: AGENT, body, headers: { authorization: undefined } }))
}

function pay({ url }: Gateway, challenge: ReadChallenge, token: string, body = BODY): Promise<Reply> {
  return send(url, { path: AGENT, body, headers: { authorization: credential(challenge, token) } })
}

/** Pays, and repeats what a busy machine's database was too late for: after a 503 nothing has happened. */
async function payInTime(gateway: Gateway, challenge: ReadChallenge, token: string): Promise<Reply> {
  for (;;) {
    const reply = await pay(gateway, challenge, token)
    if (reply.status !== 503) return reply
  }
}

const serverTest = isPostgresExpected ? test : test.skip
const SUBMITS = isDrill ? 160 : 60

for (const [name, run, createUrl] of [
  ['sqlite', test, async () => undefined],
  ['postgres', serverTest, createMigratedDatabase],
] as const)
  run(
    `${name}: of ${SUBMITS} submits of one credential to several gateways exactly one is served, charged and asked`,
    async (t) => {
      const databaseUrl = await createUrl()
      const row = await openRow(t, { databaseUrl, gateways: isDrill ? 1 : 2 })
      const rivals = await Promise.all(Array.from({ length: isDrill ? 3 : 0 }, () => row.startProcess()))
      const gateways = [...row.gateways, ...rivals]
      const challenge = await challengeBy(gateways[0] as Gateway)
      const token = grantToken(row.stripe.world, { maxCents: 100_000 })
      const submits = Array.from({ length: SUBMITS }, (_, nth) =>
        payInTime(gateways[nth % gateways.length] as Gateway, challenge, token),
      )
      const replies = await Promise.all(submits)
      const byStatus = Map.groupBy(replies, ({ status }) => status)
      t.deepEqual([...byStatus.keys()].sort(), [200, 402])
      t.is(byStatus.get(200)?.length, 1)
      t.true(
        byStatus.get(402)?.every(({ json }) => String((json as { type: string }).type).endsWith('/invalid-challenge')),
      )
      t.deepEqual(booksOf(row.stripe.world), { intents: 1, capturedCents: 50, heldCents: 0, statuses: ['succeeded'] })
      t.is(row.provider.seen.length, 1)
      t.is(replies.filter((reply) => receiptOf(reply) !== undefined).length, 1)
    },
  )

/** Moments of a kill: while Stripe holds the money, while the provider answers, while Stripe takes the money. */
const DEATHS = ['authorize', 'upstream', 'capture'] as const

const STREAM_BODY = ask('what is the toll', { stream: true })
const KILLED = [BODY, STREAM_BODY].flatMap((body) => DEATHS.map((death) => ({ body, death })))

for (const { body, death } of sampled(KILLED, 5))
  test(`sqlite: a process killed in ${death} leaves a payment that another goes on with (${body.stream ? 'stream' : 'json'})`, async (t) => {
    const row = await openRow(t)
    const [second] = row.gateways as [Gateway]
    const first = await row.startProcess()
    const challenge = await challengeBy(first, body)
    const token = grantToken(row.stripe.world)
    const gate = Promise.withResolvers<void>()
    row.provider.reply({ kind: 'answer', ...(death === 'upstream' && { before: { until: gate.promise } }) })
    row.stripe.fail(({ method, path: where }) => {
      const step = method !== 'POST' ? '' : where.endsWith('/capture') ? 'capture' : 'authorize'
      return step === death ? { kind: 'wait', until: gate.promise } : undefined
    })
    const died = pay(first, challenge, token, body)
    const isThere = () =>
      death === 'upstream'
        ? row.provider.seen.length === 1
        : row.stripe.seen.some(
            ({ path: where, method }) =>
              method === 'POST' && where.endsWith(death === 'capture' ? '/capture' : 'intents'),
          )
    await eventually(isThere, death)
    process.kill(first.pid, 'SIGKILL')
    t.is((await died).status, 0)
    gate.resolve()
    row.provider.reply({ kind: 'answer' })
    row.stripe.mend()
    await row.sql('update payment set lease_until_ms = 0 returning id')
    await eventually(() => booksOf(row.stripe.world).intents === 1, 'Stripe has finished what was asked')
    const resumed = await pay(second, challenge, token, body)
    t.is(resumed.status, 200, resumed.text)
    t.truthy(receiptOf(resumed))
    t.deepEqual(booksOf(row.stripe.world), { intents: 1, capturedCents: 50, heldCents: 0, statuses: ['succeeded'] })
    t.is((await pay(second, challenge, token, body)).status, 402)
  })

for (const [began, goesOn] of [
  ['manual', 'automatic'],
  ['automatic', 'manual'],
] as const)
  test(`sqlite: a payment that began as ${began} ends so, whatever is configured by then`, async (t) => {
    const row = await openRow(t, { gateways: 0 })
    const first = await row.start({ SVC_MPP_SETTLEMENT: began })
    const second = await row.start({ SVC_MPP_SETTLEMENT: goesOn })
    const [known, unknown] = [await challengeBy(first), await challengeBy(first)]
    const [one, other] = [grantToken(row.stripe.world), grantToken(row.stripe.world)]
    // Of one nothing has come back from Stripe, though it was done there; of the other the answer has failed.
    row.stripe.fail(({ path: where }) => (where.endsWith('payment_intents') ? { kind: 'lose-after' } : undefined))
    t.is((await pay(first, unknown, other)).status, 503)
    row.stripe.mend()
    row.provider.reply({ kind: 'error', status: 500 })
    t.is((await pay(first, known, one)).status, 502)
    row.provider.reply({ kind: 'answer' })
    const before = { manual: ['requires_capture', 'requires_capture'], automatic: ['succeeded', 'succeeded'] }
    t.deepEqual(booksOf(row.stripe.world).statuses, before[began])
    for (const [challenge, token] of [
      [unknown, other],
      [known, one],
    ] as const) {
      const reply = await pay(second, challenge, token)
      t.is(reply.status, 200, reply.text)
      const books = { intents: 1, capturedCents: 50, heldCents: 0, statuses: ['succeeded'] }
      t.deepEqual(booksOf(row.stripe.world, challenge.id), books)
    }
    t.deepEqual(await row.sql('select distinct settlement, state from payment'), [
      { settlement: began, state: 'consumed' },
    ])
  })

test('sqlite: a hold whose payer does not return is released, and the challenge is over', async (t) => {
  const row = await openRow(t)
  const [gateway] = row.gateways as [Gateway]
  row.provider.reply({ kind: 'error', status: 500 })
  const challenge = await challengeBy(gateway)
  const token = grantToken(row.stripe.world)
  t.is((await pay(gateway, challenge, token)).status, 502)
  t.is(booksOf(row.stripe.world).heldCents, 50)
  await row.sql('update payment set due_at_ms = 0 returning id')
  await gateway.stop()
  const next = await row.start()
  await eventually(() => booksOf(row.stripe.world).statuses[0] === 'canceled', 'the hold is let go')
  await eventually(
    async () => JSON.stringify(await row.sql('select state from payment')).includes('expired'),
    'recorded',
  )
  t.is((await pay(next, challenge, token)).status, 402)
  t.like(booksOf(row.stripe.world), { capturedCents: 0, heldCents: 0 })
})

test('sqlite: a challenge of a database that was lost is none', async (t) => {
  const row = await openRow(t)
  const [gateway] = row.gateways as [Gateway]
  const challenge = await challengeBy(gateway)
  await row.sql('delete from payment_window returning id')
  const reply = await pay(gateway, challenge, grantToken(row.stripe.world))
  t.is(reply.status, 402)
  t.true(String((reply.json as { type: string }).type).endsWith('/invalid-challenge'))
  t.is(booksOf(row.stripe.world).intents, 0)
  t.is(
    (await pay(gateway, readChallenge(reply), grantToken(row.stripe.world))).status,
    200,
    'the next is of a known window',
  )
})

test('sqlite: who is refused after the clock was set forward can pay the challenge of the refusal', async (t) => {
  const row = await openRow(t)
  const folder = mkdtempSync(path.join(tmpdir(), 'turnpike-clock-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const file = path.join(folder, 'clock')
  writeFileSync(file, '')
  const gateway = await row.startProcess({ NODE_OPTIONS: `--import=${CLOCK}`, TURNPIKE_CLOCK: file })
  const early = await challengeBy(gateway)
  writeFileSync(file, `${HOUR_MS} 1`)
  await eventually(() => existsSync(`${file}.${gateway.pid}`), 'the gateway has that clock')
  const refusal = await pay(gateway, early, grantToken(row.stripe.world))
  t.is(refusal.status, 402)
  const reply = await pay(gateway, readChallenge(refusal), grantToken(row.stripe.world))
  t.is(reply.status, 200, reply.text)
  t.like(booksOf(row.stripe.world), { intents: 1, capturedCents: 50, heldCents: 0 })
})

/** Makes a process believe that it is so much later, or earlier. */
function clockOffBy(ms: number): Record<string, string> {
  const code = `const now = Date.now; Date.now = () => now() + ${ms}`
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` }
}

const HOUR_MS = 3_600_000

serverTest('postgres: instances whose clocks are hours apart agree on which challenges are over', async (t) => {
  const databaseUrl = await createMigratedDatabase()
  const row = await openRow(t, { databaseUrl })
  const [right] = row.gateways as [Gateway]
  const instances: Gateway[] = [right]
  for (const hours of sampled([2, -2], 0)) instances.push(await row.startProcess(clockOffBy(hours * HOUR_MS)))
  let paid = 0
  for (const issuer of instances) {
    for (const payee of instances) {
      const challenge = await challengeBy(issuer)
      const lastsMs = Date.parse(challenge.expires) - Date.now()
      t.true(lastsMs > 4 * 60_000 && lastsMs <= 5 * 60_000 + 1000, `${lastsMs}`)
      const token = grantToken(row.stripe.world)
      t.is((await pay(payee, endingAt(challenge, Date.now() - 1000), token)).status, 402)
      t.is((await pay(payee, challenge, token)).status, 200)
      t.is((await pay(payee, challenge, token)).status, 402)
      paid++
    }
  }
  t.like(booksOf(row.stripe.world), { intents: paid, capturedCents: 50 * paid, heldCents: 0 })
})
