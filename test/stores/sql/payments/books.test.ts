import type { PaymentBook, PaymentClaim } from '../../../../src/core/ports/payments.ts'
import { createPaymentBooks } from '../../../../src/stores/sql/payments/payment-books.ts'
import { createPaymentStore } from '../../../../src/stores/sql/payments/payment-store.ts'
import { createSessionStore } from '../../../../src/stores/sql/payments/session-store.ts'
import { engines, type Place } from '../places.ts'

const CLAIM: PaymentClaim = {
  challengeId: 'c',
  windowId: 'w',
  expiresAtMs: 2 ** 52,
  tokenHash: 't',
  amountCents: 50,
  currency: 'usd',
  settlement: 'manual',
  route: '/v1/agent/messages',
  model: 'claude-100%',
  owner: 'o',
  leaseMs: 60_000,
}
const DAY_MS = 86_400_000

/** A payment of each kind, each later than the one before. */
const WAYS: readonly [id: string, book: PaymentBook, ways: readonly (readonly [from: string, to: string])[]][] = [
  [
    'delivered',
    'delivered',
    [
      ['claimed', 'captured'],
      ['captured', 'consumed'],
    ],
  ],
  ['owed', 'owed', [['claimed', 'captured']]],
  [
    'released',
    'written-off',
    [
      ['claimed', 'authorized'],
      ['authorized', 'expired'],
    ],
  ],
  ['refused', 'none', [['claimed', 'failed']]],
  ['open', 'open', []],
]

async function fill(place: Place) {
  const store = await place.open()
  const payments = createPaymentStore(store)
  await payments.openWindow('w')
  for (const [index, [challengeId, , ways]] of WAYS.entries()) {
    await payments.claim({ ...CLAIM, challengeId, tokenHash: `token of ${challengeId}` })
    for (const [from, to] of ways) {
      const reference = to === 'captured' || to === 'authorized' ? { reference: `pi_${challengeId}` } : {}
      // Safe: the ways above are ways there are.
      await payments.move({ challengeId, owner: 'o', fence: 1, from, to, ...reference } as never)
    }
    for (const column of ['captured_at_ms', 'ended_at_ms', 'due_at_ms'])
      await place.sql(
        `update payment set ${column} = ${index * DAY_MS} where id = '${challengeId}' and ${column} is not null`,
      )
  }
  return { books: createPaymentBooks(store), sessions: createSessionStore(store) }
}

for (const engine of engines) {
  engine.test('payment books: every payment is in one book, newest first, and the sums by day agree', async (t) => {
    const { books } = await fill(await engine.createPlace(t))
    const all = await books.list({ limit: 500 })
    t.deepEqual(
      all.map(({ challengeId, book }) => [challengeId, book]),
      WAYS.map(([id, book]) => [id, book]).reverse(),
    )
    t.deepEqual(
      await books.report({ sinceMs: DAY_MS }),
      all
        .slice(0, -1)
        .reverse()
        .map(({ atMs, book }) => ({ dayMs: atMs, book, payments: 1, cents: 50 })),
    )
  })

  engine.test('payment books: pages, books and words narrow the list, and a word is no pattern', async (t) => {
    const { books } = await fill(await engine.createPlace(t))
    const ids = async (page: Partial<Parameters<typeof books.list>[0]>) =>
      (await books.list({ limit: 500, ...page })).map(({ challengeId }) => challengeId)
    const paged: string[] = []
    for (let after = (await books.list({ limit: 1 })).at(-1); after !== undefined; ) {
      paged.push(after.challengeId)
      after = (await books.list({ limit: 1, after })).at(-1)
    }
    t.deepEqual(paged, await ids({}))
    t.deepEqual(await ids({ book: 'owed' }), ['owed'])
    t.deepEqual(await ids({ text: 'PI_REL' }), ['released'])
    t.is((await ids({ text: '100%' })).length, WAYS.length)
    t.deepEqual(await ids({ text: '1%0' }), [])
    t.deepEqual(await ids({ text: 'pi', book: 'none' }), [])
  })

  engine.test('payment books: one is found with its session, and the scopes of both tokens', async (t) => {
    const { books, sessions } = await fill(await engine.createPlace(t))
    const opening = { sessionId: 'owed', reference: 'pi_owed', calls: 10, ttlMs: 60_000 }
    await sessions.open({ ...opening, tokenHash: 'token of the session' })
    await sessions.reserve({ tokenHash: 'token of the session', callId: 'call', leaseMs: 1000 })
    t.like(await books.find('owed'), {
      scopes: ['agent:token of owed', 'agent:token of the session'],
      session: { callsTotal: 10, callsLeft: 9 },
    })
    t.like(await books.find('open'), { scopes: ['agent:token of open'], session: null, reference: null })
    t.is(await books.find('nothing'), undefined)
  })
}
