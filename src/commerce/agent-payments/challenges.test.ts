import test from 'ava'
import { GatewayError } from '../../core/errors.ts'
import { Challenges, type ChallengesOptions, type OwnChallenge } from './challenges.ts'

const MINUTE_MS = 60_000
const DEMAND = { route: '/v1/agent/messages', digest: 'sha-256=:x:', amountCents: 50 }
const [OLD, NEW] = ['o'.repeat(32), 'n'.repeat(32)]

/** Creates challenges with manual clocks; `storesMs` is the database's. */
function createStand(options: Partial<ChallengesOptions> = {}) {
  const opened: string[] = []
  const clocks = { monotonicMs: 1000, storesMs: Date.parse('2026-11-22T03:00:00Z') }
  const stand = {
    opened,
    clocks,
    fails: false,
    challenges: new Challenges({
      secrets: [NEW],
      realm: 'gw.test',
      networkId: 'profile_1',
      monotonicMs: () => clocks.monotonicMs,
      store: {
        async openWindow(id) {
          opened.push(id)
          if (stand.fails) throw new GatewayError('service_unavailable', 'down')
          return clocks.storesMs
        },
      },
      ...options,
    }),
  }
  return stand
}

test('challenges: an unchanged one is recognised, with its demand', async (t) => {
  const { challenges, opened } = createStand()
  const challenge = await challenges.issue(DEMAND)
  t.deepEqual(challenges.recognise(challenge, DEMAND.route), {
    id: challenge.id,
    ...DEMAND,
    windowId: opened[0] ?? '',
    expiresAtMs: Date.parse('2026-11-22T03:05:00Z'),
  })
  t.deepEqual(JSON.parse(Buffer.from(challenge.request, 'base64url').toString()), {
    amount: '50',
    currency: 'usd',
    methodDetails: { networkId: 'profile_1', paymentMethodTypes: ['card', 'link'] },
  })
})

test('challenges: a challenge is valid for its route and realm only', async (t) => {
  const { challenges } = createStand()
  const challenge = await challenges.issue(DEMAND)
  t.is(challenges.recognise(challenge, '/v1/agent/sessions'), undefined)
  t.is(createStand({ realm: 'other.test' }).challenges.recognise(challenge, DEMAND.route), undefined)
})

test('challenges: no two are the same, even for the same demand', async (t) => {
  const { challenges } = createStand()
  const issued = await Promise.all(Array.from({ length: 100 }, () => challenges.issue(DEMAND)))
  t.is(new Set(issued.map(({ id }) => id)).size, 100)
})

test('challenges: those signed with the previous secret stay valid, and no others', async (t) => {
  const before = await createStand({ secrets: [OLD] }).challenges.issue(DEMAND)
  const after = createStand({ secrets: [NEW, OLD] }).challenges
  t.truthy(after.recognise(before, DEMAND.route))
  t.truthy(createStand({ secrets: [NEW] }).challenges.recognise(await after.issue(DEMAND), DEMAND.route))
  t.is(createStand({ secrets: [NEW] }).challenges.recognise(before, DEMAND.route), undefined)
})

test('challenges: the store is written once a minute, however many are issued', async (t) => {
  const { challenges, opened, clocks } = createStand()
  await Promise.all(Array.from({ length: 1000 }, () => challenges.issue(DEMAND)))
  t.is(opened.length, 1)
  clocks.monotonicMs += MINUTE_MS - 1
  await challenges.issue(DEMAND)
  t.is(opened.length, 1)
  clocks.monotonicMs += 1
  await Promise.all(Array.from({ length: 1000 }, () => challenges.issue(DEMAND)))
  t.is(opened.length, 2)
  t.not(opened[0], opened[1])
})

test('challenges: a returned challenge is recognised without the store', async (t) => {
  const stand = createStand()
  const challenge = await stand.challenges.issue(DEMAND)
  stand.opened.length = 0
  for (let i = 0; i < 100; i++) {
    t.truthy(stand.challenges.recognise(challenge, DEMAND.route))
    t.is(stand.challenges.recognise({ ...challenge, id: 'A'.repeat(43) }, DEMAND.route), undefined)
  }
  t.is(stand.opened.length, 0)
})

test('challenges: the expiry is five minutes ahead by the store’s clock, whatever the local time', async (t) => {
  const { challenges, clocks } = createStand()
  clocks.storesMs = Date.parse('2031-01-01T00:00:00Z')
  t.is((await challenges.issue(DEMAND)).expires, '2031-01-01T00:05:00.000Z')
  clocks.monotonicMs += 30_000
  t.is((await challenges.issue(DEMAND)).expires, '2031-01-01T00:05:30.000Z')
})

test('challenges: after the store’s clock was set forward, the first refusal corrects the next challenge', async (t) => {
  const { challenges, opened, clocks } = createStand()
  const recognised = async () => challenges.recognise(await challenges.issue(DEMAND), DEMAND.route) as OwnChallenge
  const early = await recognised()
  clocks.storesMs += 60 * MINUTE_MS
  challenges.noteRefusal(early, 'expired')
  const next = challenges.issue(DEMAND)
  for (let i = 0; i < 10; i++) challenges.noteRefusal(early, 'expired')
  t.is(opened.length, 2, 'many refusals at once open one window')
  await next
  t.is((await challenges.issue(DEMAND)).expires, new Date(clocks.storesMs + 5 * MINUTE_MS).toISOString())
  for (let i = 0; i < 10; i++) {
    challenges.noteRefusal(early, 'expired')
    await challenges.issue(DEMAND)
  }
  t.is(opened.length, 2, 'one that has ended by both clocks opens no window')
})

test('challenges: a window that the store has lost is replaced, and one of before is not missed', async (t) => {
  const { challenges, opened } = createStand()
  const recognised = async () => challenges.recognise(await challenges.issue(DEMAND), DEMAND.route) as OwnChallenge
  const lost = await recognised()
  challenges.noteRefusal(lost, 'consumed')
  t.is((await recognised()).windowId, lost.windowId)
  challenges.noteRefusal(lost, 'unknown')
  t.not((await recognised()).windowId, lost.windowId)
  challenges.noteRefusal(lost, 'unknown')
  await recognised()
  t.is(opened.length, 2)
})

test('challenges: none is issued while the store is down, and they are again afterwards', async (t) => {
  const stand = createStand()
  stand.fails = true
  for (let i = 0; i < 2; i++) await t.throwsAsync(stand.challenges.issue(DEMAND), { code: 'service_unavailable' })
  stand.fails = false
  t.truthy(await stand.challenges.issue(DEMAND))
})
