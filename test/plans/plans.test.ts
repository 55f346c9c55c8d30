import test, { type ExecutionContext } from 'ava'
import { engines } from '../stores/sql/places.ts'
import { eventually } from '../support/eventually.ts'
import { ask, type Reply } from '../support/http-client.ts'
import { guardedBy } from '../support/pipelines.ts'
import { type Account, fixtureOf } from './plans-fixture.ts'

const endings: (() => Promise<void>)[] = []
test.after.always(async () => {
  for (const end of endings) await end()
})

/** A plan counts calls with the guard's books where it runs, and with books of its own where it does not. */
const UNGUARDED = { headers: { 'x-svc-pipe': 'none' } }

/**
 * Sends until the answer has this status: what a failed request held is free a moment later where the database is busy.
 * Failing again costs nothing either.
 */
async function untilStatus(attempt: () => Promise<Reply>, status: number): Promise<void> {
  await eventually(async () => (await attempt()).status === status, `the status ${status}`)
}

/** Asserts the account's rows once nothing is held: ends of calls are stored a few times a second. */
async function assertBooks(
  t: ExecutionContext,
  account: Account,
  expected: Partial<Awaited<ReturnType<Account['books']>>>,
) {
  const isSettled = async () => {
    const { held, heldCredits } = await account.books()
    return held === 0 && heldCredits === 0
  }
  await eventually(isSettled, 'nothing is held')
  t.like(await account.books(), expected)
}

const statuses = (replies: readonly Reply[]) => replies.map(({ status }) => status)

for (const engine of engines) {
  const open = fixtureOf(engine, { after: (end) => void endings.push(end) })

  engine.test('plans: the free plan answers 429 after its calls, with the end of the period', async (t) => {
    const { account, provider } = await open()
    const free = await account('free')
    const asked = provider.seen.length
    const replies: Reply[] = []
    for (const i of [1, 2, 3, 4]) replies.push(await free.send(ask(`free ${i}`)))
    t.deepEqual(statuses(replies), [200, 200, 200, 429])
    const refusal = replies[3]!
    t.like(refusal.json, { type: 'error', error: { type: 'rate_limit_error' } })
    t.regex(refusal.text, /3 calls a period.*at \d{4}-\d{2}-01T00:00:00\.000Z/)
    t.is(refusal.headers['x-should-retry'], 'false')
    t.is(refusal.headers['retry-after'], undefined)
    t.true(provider.seen.length >= asked + 3)
    await assertBooks(t, free, { settled: 3 })
  })

  engine.test('plans: a paid plan goes on from credits, and answers 402 without', async (t) => {
    const { account } = await open()
    const pro = await account('pro', 25)
    const replies: Reply[] = []
    for (const i of [1, 2, 3, 4, 5]) replies.push(await pro.send(ask(`pro ${i}`), i % 2 === 0 ? {} : UNGUARDED))
    t.deepEqual(statuses(replies), [200, 200, 200, 200, 402])
    t.like(replies[4]?.json, { type: 'error', error: { type: 'payment_required' } })
    t.regex(replies[4]?.text ?? '', /costs 10 credits, and 5 are left/)
    t.is(replies[4]?.headers['x-should-retry'], 'false')
    await assertBooks(t, pro, { settled: 4, posted: 5 })
    t.deepEqual(await pro.overage(), { calls: 2, credits: 20 })
  })

  for (const [name, how] of [
    ['without a guard', UNGUARDED],
    ['with the guard', {}],
  ] as const) {
    engine.test(`plans: of fifty at once with credits for seven exactly seven are answered, ${name}`, async (t) => {
      const { account } = await open()
      const pro = await account('pro', 79)
      for (const i of [1, 2]) t.is((await pro.send(ask(`included ${i}`), how)).status, 200)
      const replies = await Promise.all(Array.from({ length: 50 }, (_, i) => pro.send(ask(`crowd ${i}`), how)))
      t.is(replies.filter(({ status }) => status === 200).length, 7)
      t.is(replies.filter(({ status }) => status === 402).length, 43)
      await assertBooks(t, pro, { settled: 9, posted: 9 })
      t.deepEqual(await pro.overage(), { calls: 7, credits: 70 })
    })
  }

  engine.test('plans: what fails upstream costs nothing', async (t) => {
    const { account } = await open()
    const pro = await account('pro', 10)
    for (const i of [1, 2]) await pro.send(ask(`used ${i}`))
    for (const how of [UNGUARDED, {}]) {
      await untilStatus(() => pro.send(ask('fail'), how), 502)
      await untilStatus(() => pro.send(ask('refuse'), how), 400)
      await untilStatus(() => pro.send(ask('break'), how), 502)
      await untilStatus(() => pro.send(ask('fail', { stream: true }), how), 502)
    }
    await assertBooks(t, pro, { settled: 2, posted: 10 })
    t.is((await pro.send(ask('now it works'))).status, 200)
    await assertBooks(t, pro, { settled: 3, posted: 0 })
  })

  engine.test('plans: an answer from a cache is a call, and needs one', async (t) => {
    const { account } = await open()
    const free = await account('free')
    // Each gateway has a cache of its own: until one of them answers again.
    const replies: Reply[] = []
    for (let i = 0; i < 4; i++) replies.push(await free.send(ask('the same')))
    t.deepEqual(statuses(replies), [200, 200, 200, 429])
    await assertBooks(t, free, { settled: 3 })
  })

  engine.test('plans: a stream that is left counts, and so does an answer that is left before it begins', async (t) => {
    const { account, provider } = await open()
    const pro = await account('pro', 100)
    for (const text of [`stall ${pro.id}`, `hang ${pro.id}`]) {
      const leaving = new AbortController()
      const reply = pro.send(ask(text, { stream: true }), {
        signal: leaving.signal,
        onChunk: () => leaving.abort(),
      })
      const isAsked = () => provider.seen.some(({ raw }) => raw.toString().includes(text))
      await eventually(isAsked, 'the provider is asked')
      if (text.startsWith('hang')) leaving.abort()
      await reply
    }
    await eventually(async () => (await pro.books()).settled === 2, 'both count')
    await assertBooks(t, pro, { settled: 2, posted: 100 })
  })

  engine.test('plans: a cap and a plan refuse each for itself, and neither takes the other’s', async (t) => {
    const { account, place } = await open()
    const pro = await account('pro', 10)
    const tight = { headers: { 'x-svc-pipe': guardedBy('per_day=0.000001') } }
    t.like((await pro.send(ask('capped'), tight)).json, { error: { type: 'cost_limit_per_day' } })
    await assertBooks(t, pro, { settled: 0, posted: 10 })
    for (const i of [1, 2, 3]) t.is((await pro.send(ask(`within ${i}`))).status, 200)
    t.is((await pro.send(ask('no credits'))).status, 402)
    // Where both would refuse, the reply names the cap.
    t.like((await pro.send(ask('both'), tight)).json, { error: { type: 'cost_limit_per_day' } })
    await assertBooks(t, pro, { settled: 3, posted: 0 })
    const held = () =>
      place.sql(
        `select sum(held_nano_usd) as held from spend_window where scope in (select 'key:key:' || id from api_key where account_id = '${pro.id}')`,
      )
    // Money is settled after the reply.
    await eventually(async () => Number((await held())[0]?.held) === 0, 'no money is held')
  })

  engine.test('plans: counting tokens is no call', async (t) => {
    const { account } = await open()
    const free = await account('free')
    const body = { model: 'claude-sonnet-4-5', messages: [{ role: 'user', content: 'hi' }] }
    for (let i = 0; i < 5; i++) t.is((await free.send(body, { path: '/v1/messages/count_tokens' })).status, 200)
    await assertBooks(t, free, { settled: 0 })
  })
}
