import test from 'ava'
import type Stripe from 'stripe'
import { createRecordingLog } from '../../../test/support/recording-log.ts'
import { RequestDocument } from '../../core/request/request.ts'
import { Challenges } from './challenges.ts'
import { assertCovered } from './coverage.ts'
import { discoveryDocument, ledgerEntry } from './discovery.ts'
import { tryPayment } from './doctor.ts'
import { LateCalls } from './late-calls.ts'
import { createOpenPayment } from './open-payment.ts'
import { agentScope, Paywall } from './paywall.ts'
import { providerWorkOf } from './provider-work.ts'
import { createReconciler } from './reconciler.ts'
import { Sessions } from './sessions.ts'
import { isOpen, Settlement } from './settlement.ts'
import { createStripeGateway, foundIn } from './stripe/gateway.ts'

const MINUTE_MS = 60_000
const fault = (type: string, members: object = {}) => Object.assign(new Error('secret spt_1'), { type, ...members })

test('late calls: a payment may have two that are no streams, each a time-out of the provider; streams are not limited', (t) => {
  const late = new LateCalls()
  const timeOut = (code: string) => new Error('x', { cause: Object.assign(new Error('late'), { code }) })
  const isAllowed = (id = 'a', stream = false) => {
    try {
      late.assertInTime(id, { stream })
      return true
    } catch {
      return false
    }
  }
  late.note('a', timeOut('ECONNRESET'))
  late.note('a', new Error('x'))
  late.note('a', 'x')
  for (const code of ['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'REPLY_TIMEOUT']) {
    t.true(isAllowed(code))
    late.note(code, timeOut(code))
    t.true(isAllowed(code))
    late.note(code, timeOut(code))
    t.false(isAllowed(code))
    late.note('a', timeOut(code))
  }
  t.false(isAllowed())
  t.true(isAllowed('a', true))
  t.true(isAllowed('b'))
})

test('provider work: searches and rounds are counted, and work without a bound is refused', (t) => {
  const workOf = (body: object) =>
    providerWorkOf(new RequestDocument(Buffer.from(JSON.stringify({ model: 'm', ...body }))))
  const search = (max_uses?: unknown) => ({ type: 'web_search_20250305', name: 'web_search', max_uses })
  const rows: [body: object, searches: number, rounds: number, foundTokens: number][] = [
    [{}, 0, 0, 0],
    [{ tools: [] }, 0, 0, 0],
    [{ tools: [{ name: 'f' }, { type: 'custom', name: 'g' }, { type: 'bash_20250124' }] }, 0, 0, 0],
    [{ tools: [{ type: 'text_editor_20250728' }, { type: 'computer_x' }, { type: 'memory_x' }] }, 0, 0, 0],
    [{ tools: [search(1)] }, 1, 1, 20_000],
    [{ tools: [search(3)] }, 3, 3, 6 * 20_000],
    [{ tools: [search(2), search(1)] }, 3, 3, 6 * 20_000],
    [{ tools: [search(12)] }, 12, 10, 75 * 20_000],
    [{ tools: [{ type: 'tool_search_tool_regex' }] }, 0, 10, 0],
    [{ tools: [{ type: 'tool_search_tool_regex' }, search(1)] }, 1, 10, 20_000],
    [{ mcp_servers: [], fallbacks: null }, 0, 0, 0],
    [{ context_management: { edits: [{ type: 'clear_tool_uses' }] } }, 0, 0, 0],
  ]
  for (const [body, searches, rounds, foundTokens] of rows)
    t.deepEqual(workOf(body), { searches, rounds, foundTokens }, JSON.stringify(body))
  const document = (type: string) => ({ type: 'document', source: { type } })
  const content = (...blocks: object[]) => ({ messages: [{ role: 'user', content: blocks }] })
  t.notThrows(() => workOf(content(document('base64'), { type: 'image', source: { type: 'url' } })))
  t.notThrows(() => workOf(content({ type: 'tool_use', input: document('url') })), 'an input is no content')
  const refused = [
    { tools: [search()] },
    { tools: [search(0)] },
    { tools: [search(1.5)] },
    { tools: [{ type: 'web_fetch_20250910' }] },
    { tools: [{ type: 'code_execution_x' }] },
    { tools: [{ type: 'custom_x' }] },
    { mcp_servers: [{}] },
    { fallbacks: ['m'] },
    { plugins: {} },
    { context_management: { edits: [{ type: 'x' }, { type: 'compact_20260112' }] } },
    content(document('url')),
    content(document('file')),
    content({ type: 'tool_result', content: [document('url')] }),
  ]
  for (const body of refused) t.throws(() => workOf(body), { code: 'price_too_low' }, JSON.stringify(body))
})

test('coverage: a call that costs exactly what its price covers passes; the help names what fits', (t) => {
  const check =
    (worstNanoUsd: number, mostTokens = 5, searches = 0) =>
    () =>
      assertCovered({ worstNanoUsd, coversNanoUsd: 100, mostTokens, searches })
  t.notThrows(check(100))
  t.throws(check(101), { message: /It fits with `max_tokens` of 5 or less/ })
  t.throws(check(101, 1), { message: /of 1 or less/ })
  t.throws(check(101, 0), { message: /shorten it/ })
  t.throws(check(101, 0, 1), { message: /lower `max_uses`/ })
})

test('discovery: prices in dollars, and entries without the payer or the payment’s id', (t) => {
  const options = { realm: 'r', amountCents: 7, readiness: async () => 'test_mode' as const, store: {} as never } // safe: not used
  t.like(discoveryDocument(options, { readiness: 'test_mode', paths: ['/a', '/b'] }), {
    realm: 'r',
    payment_methods: [{ method: 'stripe', status: 'test_mode' }],
    routes: [
      { path: '/a', method: 'POST', price_usd_per_call: 0.07 },
      { path: '/b', method: 'POST', price_usd_per_call: 0.07 },
    ],
    capabilities: { idempotency: true, refunds: false, ledger_public: true },
    terms: { left_calls_given_back: 2, cached_session_calls: 'not_counted' },
  })
  const settled = {
    capturedAtMs: 0,
    challengeId: 'c',
    amountCents: 7,
    currency: 'usd',
    reference: 'pi_1',
    model: 'm',
    route: '/a',
  }
  const entry = ledgerEntry({ ...settled, state: 'consumed' })
  t.like(entry, { settled_at: '1970-01-01T00:00:00.000Z', amount: '7', status: 'delivered', model: 'm', route: '/a' })
  t.regex(entry.reference_sha256, /^[0-9a-f]{64}$/)
  t.notRegex(JSON.stringify(entry), /pi_1/)
  t.is(ledgerEntry({ ...settled, state: 'captured' }).status, 'captured')
})

const CHALLENGE = { route: '/a', digest: 'sha-256=:x:', amountCents: 7 }

/** Issuers on one clock, whose windows a store opens at `storeMs`. */
function issuer(secrets: [string, ...string[]], members: object = {}) {
  const clock = { ms: 0, storeMs: 1_700_000_000_000 }
  const opened: string[] = []
  const openWindow = async (id: string) => {
    opened.push(id)
    return clock.storeMs + clock.ms
  }
  const options = {
    secrets,
    realm: 'r',
    networkId: 'n',
    store: { openWindow },
    monotonicMs: () => clock.ms,
    ...members,
  }
  return { challenges: new Challenges(options), clock, opened }
}

test('challenges: one of this gateway, unchanged, for its route; signed with any of the secrets', async (t) => {
  const { challenges, clock, opened } = issuer(['new', 'old'])
  const own = await challenges.issue(CHALLENGE)
  t.is(own.expires, new Date(clock.storeMs + 5 * MINUTE_MS).toISOString())
  t.like(challenges.recognise(own, '/a'), {
    ...CHALLENGE,
    expiresAtMs: clock.storeMs + 5 * MINUTE_MS,
    windowId: opened[0],
  })
  t.not(challenges.recognise({ ...own, description: 'x' }, '/a'), undefined, 'a description is not bound')
  const old = await issuer(['old']).challenges.issue(CHALLENGE)
  t.is(challenges.recognise(old, '/a')?.id, old.id)
  const others = [
    await issuer(['other']).challenges.issue(CHALLENGE),
    await issuer(['new'], { realm: 'other' }).challenges.issue(CHALLENGE),
    ...(['realm', 'method', 'intent', 'request', 'expires', 'digest', 'opaque'] as const).flatMap((name) => [
      { ...own, [name]: 'x' },
      { ...own, [name]: undefined },
    ]),
    { ...own, id: own.id.slice(1) },
  ]
  for (const other of others) t.is(challenges.recognise(other as typeof own, '/a'), undefined, JSON.stringify(other)) // safe: changed on purpose
  t.is(challenges.recognise(own, '/b'), undefined)
})

test('challenges: a window lasts a minute, and one that could not be opened is opened again', async (t) => {
  const { challenges, clock, opened } = issuer(['a'])
  await Promise.all([challenges.issue(CHALLENGE), challenges.issue(CHALLENGE)])
  clock.ms = MINUTE_MS - 1
  await challenges.issue(CHALLENGE)
  t.is(opened.length, 1)
  clock.ms = MINUTE_MS
  await challenges.issue(CHALLENGE)
  t.is(opened.length, 2)
  let isDown = true
  const openWindow = async () => {
    if (isDown) throw new Error('down')
    return 0
  }
  const down = issuer(['a'], { store: { openWindow } }).challenges
  await t.throwsAsync(down.issue(CHALLENGE), { message: 'down' })
  isDown = false
  await t.notThrowsAsync(down.issue(CHALLENGE))
})

test('sessions: one payment opens one session, whose credential is of this gateway, route and purpose', async (t) => {
  const openings: object[] = []
  const store = {
    open: async (opening: { sessionId: string; calls: number }) => {
      openings.push(opening)
      return { sessionId: opening.sessionId, callsTotal: opening.calls, callsLeft: opening.calls, expiresAtMs: 5 }
    },
    reserve: async ({ leaseMs }: { leaseMs: number }) => ({
      kind: 'refused',
      why: leaseMs === 20 * MINUTE_MS ? 'exhausted' : 'unknown',
    }),
  }
  const create = (members: object = {}) =>
    new Sessions({
      secrets: ['new', 'old'],
      realm: 'r',
      route: '/a',
      store: store as never, // safe: no other operation is used
      randomId: () => 'call',
      log: createRecordingLog(),
      ...members,
    })
  const sessions = create()
  const payment = { challengeId: 'c', reference: 'pi', calls: 3 }
  const [first, again] = [await sessions.open(payment), await sessions.open(payment)]
  t.is(first.authorization, again.authorization)
  t.not(first.authorization, (await sessions.open({ ...payment, challengeId: 'd' })).authorization)
  t.like(openings[0], { sessionId: 'c', reference: 'pi', calls: 3, ttlMs: 60 * MINUTE_MS })
  const { challenge, payload } = JSON.parse(
    Buffer.from(first.authorization.split(' ')[1] ?? '', 'base64url').toString(),
  )
  t.true(sessions.recognises(challenge))
  t.true(create({ secrets: ['newer', 'new'] }).recognises(challenge))
  for (const members of [{ secrets: ['x'] }, { realm: 'x' }, { route: '/b' }])
    t.false(create(members).recognises(challenge), JSON.stringify(members))
  for (const name of ['realm', 'method', 'intent', 'request', 'expires', 'opaque'])
    t.false(sessions.recognises({ ...challenge, [name]: 'x' }), name)
  t.is(await sessions.take(challenge, payload.session_token), 'The session has no calls left.')
  t.regex(String(await sessions.take({ ...challenge, realm: 'x' }, payload.session_token)), /not issued here/)
  t.is(await sessions.standing({ ...challenge, realm: 'x' }, payload.session_token), undefined)
})

const SUBMISSION = { token: 'spt_1', challengeId: 'c', windowId: 'w', expiresAtMs: 1, tokenHash: 'h', amountCents: 7 }

test('paywall: a changed body or a challenge of another route costs no query to the store', async (t) => {
  const { challenges } = issuer(['a'])
  const begun: object[] = []
  const outcome = { value: { kind: 'declined', reason: 'no money' } as object }
  const settlement = {
    begin: async (one: object) => {
      begun.push(one)
      return outcome.value
    },
  }
  const paywall = new Paywall({ challenges, settlement: settlement as never }) // safe: no other operation is used
  const challenge = await challenges.issue(CHALLENGE)
  const submit = (request: object = {}, token = 'spt_1') =>
    paywall.submit(
      { challenge, token },
      { request: { ...CHALLENGE, ...request }, model: 'm', signal: new AbortController().signal },
    )
  t.like(await submit({ route: '/b' }), { problem: 'invalid-challenge' })
  t.like(await submit({ digest: 'sha-256=:y:' }), { problem: 'verification-failed' })
  t.is(begun.length, 0)
  t.regex(JSON.stringify(await submit()), /verification-failed.*no money/)
  t.like(begun[0], {
    challengeId: challenge.id,
    amountCents: 7,
    currency: 'usd',
    route: '/a',
    model: 'm',
    token: 'spt_1',
  })
  for (const why of ['unknown', 'expired', 'consumed', 'failed', 'other-token']) {
    outcome.value = { kind: 'refused', why }
    t.like(await submit(), { problem: 'invalid-challenge', isDelivered: why === 'consumed' }, why)
  }
  t.regex(agentScope('spt_1'), /^agent:[0-9a-f]{64}$/)
  t.like(await paywall.refuse(CHALLENGE, { problem: 'payment-required', detail: 'Pay.' }), {
    body: { status: 402, title: 'Payment Required', type: 'https://paymentauth.org/problems/payment-required' },
  })
})

interface Money {
  authorize?: () => Promise<object>
  capture?: 'captured' | 'refused'
  claims?: object[]
  patienceMs?: number
  isTaken?: boolean
  left?: string
}

/** A settlement whose store and provider reply like this, and the operations in their order. */
function settle({ authorize, capture = 'captured', claims = [], patienceMs = 0, isTaken = true, left }: Money) {
  const done: string[] = []
  const held = { challengeId: 'c', owner: 'o', fence: 1, state: 'claimed', settlement: 'manual', reference: undefined }
  const store = {
    claim: async () => claims.shift() ?? { kind: 'held', payment: held },
    move: async ({ from, to, reference }: { from: string; to: string; reference?: string }) => {
      done.push(`${from}>${to} ${reference ?? ''}`.trim())
      return isTaken
    },
    release: async () => void done.push('release'),
    renew: async () => true,
    async leave() {
      if (left === 'unknown') throw new Error('down')
      return left
    },
  }
  const gateway = {
    authorize: authorize ?? (async () => ({ kind: 'authorized', reference: 'pi' })),
    capture: async ({ reference }: { reference: string }) => {
      done.push(`capture ${reference}`)
      return capture
    },
    cancel: async () => {
      done.push('cancel')
      return 'canceled'
    },
  }
  const options = {
    store,
    gateway,
    mode: 'manual',
    leaseMs: MINUTE_MS,
    patienceMs,
    randomId: () => 'o',
    log: createRecordingLog(),
  }
  const settlement = new Settlement(options as never) // safe: no other operation is used
  const begin = () => settlement.begin(SUBMISSION as never, new AbortController().signal) // safe: passed on
  const opened = async () => {
    const payment = await begin()
    if (!isOpen(payment)) throw new Error('it is refused')
    return payment
  }
  return { begin, opened, done, held, options }
}

test('settlement: money is held, captured and consumed in order; a refusal or a failure leaves nothing open', async (t) => {
  const paid = settle({})
  const payment = await paid.opened()
  await payment.capture()
  await payment.consume()
  t.deepEqual(paid.done, ['claimed>authorized pi', 'capture pi', 'authorized>captured', 'captured>consumed'])
  const declined = settle({ authorize: async () => ({ kind: 'refused', reason: 'card' }) })
  t.deepEqual<unknown, unknown>(await declined.begin(), { kind: 'declined', reason: 'card' })
  t.deepEqual(declined.done, ['claimed>failed'])
  const unknown = settle({
    authorize: async () => {
      throw new Error('down')
    },
  })
  await t.throwsAsync(unknown.begin(), { message: 'down' })
  t.deepEqual(unknown.done, ['release'], 'it may be submitted again')
  const uncaptured = settle({ capture: 'refused' })
  await t.throwsAsync((await uncaptured.opened()).capture())
  t.deepEqual(uncaptured.done.slice(1), ['capture pi', 'cancel', 'authorized>failed'])
  const lost = settle({ isTaken: false })
  await t.throwsAsync(lost.begin(), { code: 'service_unavailable' })
})

test('settlement: a client that leaves pays unless its call is given back', async (t) => {
  const given = settle({ left: 'given-back' })
  const payment = await given.opened()
  await payment.leave()
  await payment.leave()
  await payment.release()
  t.deepEqual(given.done, ['claimed>authorized pi'])
  const counted = settle({ left: 'counted' })
  await (await counted.opened()).leave()
  t.deepEqual(counted.done.slice(1), ['capture pi', 'authorized>captured', 'captured>consumed'])
  const failing = settle({ left: 'counted', capture: 'refused' })
  await (await failing.opened()).leave()
  t.deepEqual(failing.done.slice(1), ['capture pi', 'cancel', 'authorized>failed'])
  const unknown = settle({ left: 'unknown' })
  await (await unknown.opened()).leave()
  t.deepEqual(unknown.done.slice(1), ['release'], 'another instance may have it')
})

test('settlement: a payment in progress keeps its state; a busy one ends the patience', async (t) => {
  const captured = { kind: 'held', payment: { ...settle({}).held, state: 'captured', reference: 'pi' } }
  const resumed = settle({ claims: [captured] })
  const payment = await resumed.opened()
  await payment.capture()
  t.deepEqual(resumed.done, [], 'nothing is held or captured twice')
  await payment.release()
  await t.throwsAsync(settle({ claims: [{ kind: 'busy' }] }).begin(), { code: 'service_unavailable' })
  const refused = settle({ claims: [{ kind: 'refused', why: 'expired' }] })
  t.like(await refused.begin(), { kind: 'refused', why: 'expired' })
  const { options, held } = settle({})
  let closes = 0
  const counted = createOpenPayment(held as never, { ...options, onClosed: () => closes++ } as never) // safe: as above
  await counted.fail()
  await counted.release()
  t.is(closes, 1)
})

test('reconciler: differences are repaired, graver ones are logged as errors, young payments are left alone', async (t) => {
  const DAY_MS = 24 * 60 * MINUTE_MS
  const nowMs = 100 * DAY_MS
  const run = async (outcomes: string[], found: object, { age = DAY_MS, cancel = 'canceled' } = {}) => {
    const applied: string[] = []
    let sinceMs = 0
    const log = createRecordingLog()
    const store = {
      claimSweep: async () => true,
      reconcile: async ({ standing }: { standing: string }) => {
        applied.push(standing)
        return outcomes.shift() ?? 'agrees'
      },
    }
    const gateway = {
      cancel: async () => {
        applied.push('cancel')
        return cancel
      },
      async *list(span: { sinceMs: number }) {
        sinceMs = span.sinceMs
        yield { challengeId: 'c', reference: 'pi', standing: 'held', createdAtMs: nowMs - age, ...found }
      },
    }
    const options = { store, gateway, clock: { nowMs: () => nowMs }, log } as never // safe: no other operation is used
    await createReconciler(options).sweepDaily(new AbortController().signal)
    return { applied, sinceMs, lines: JSON.stringify(log) }
  }
  t.deepEqual((await run(['agrees'], {})).applied, ['held'])
  t.is((await run(['agrees'], {})).sinceMs, nowMs - 8 * DAY_MS)
  t.deepEqual((await run(['to-release'], {})).applied, ['held', 'cancel'])
  t.deepEqual((await run(['to-release'], {}, { cancel: 'captured' })).applied, ['held', 'cancel', 'captured'])
  t.deepEqual((await run([], {}, { age: 15 * MINUTE_MS - 1 })).applied, [], 'its owner may be at work')
  t.deepEqual((await run([], {}, { age: 15 * MINUTE_MS })).applied, ['held'])
  t.deepEqual((await run([], { standing: 'captured' }, { age: 0 })).applied, ['captured'])
})

test('Stripe gateway: what each status of an intent means, and after which errors money may have moved', async (t) => {
  interface Replies {
    create?: () => Promise<object>
    capture?: () => Promise<object>
    cancel?: () => Promise<object>
    status?: string
  }
  const calls: [name: string, ...rest: unknown[]][] = []
  const order = { challengeId: 'c', amountCents: 7, currency: 'usd', token: 'spt_1', settlement: 'manual' } as const
  const intent = (status: string, members: object = {}) => ({
    id: 'pi',
    status,
    amount: 7,
    currency: 'usd',
    metadata: { mpp_challenge_id: 'c', mpp_realm: 'r' },
    ...members,
  })
  const gatewayOf = ({ create, capture, cancel, status = 'requires_capture' }: Replies) => {
    calls.length = 0
    const reply =
      (name: string, given: (() => Promise<object>) | undefined) =>
      async (...rest: unknown[]) => {
        calls.push([name, ...rest])
        return (given ?? (async () => intent(status)))()
      }
    const paymentIntents = {
      create: reply('create', create),
      capture: reply('capture', capture),
      cancel: reply('cancel', cancel),
      retrieve: reply('retrieve', undefined),
    }
    return createStripeGateway({
      stripe: async () => ({ paymentIntents }) as never,
      realm: 'r',
      log: createRecordingLog(),
    }) // safe: no others are used
  }
  const throwing = (error: Error) => async () => {
    throw error
  }
  const authorize = (create: () => Promise<object>) => gatewayOf({ create }).authorize(order)
  t.deepEqual(await authorize(async () => intent('requires_capture')), { kind: 'authorized', reference: 'pi' })
  t.like(calls[0]?.[1], {
    amount: 7,
    currency: 'usd',
    confirm: true,
    capture_method: 'manual',
    shared_payment_granted_token: 'spt_1',
  })
  t.like(calls[0]?.[2], { idempotencyKey: 'mpp_c' })
  t.deepEqual(await authorize(async () => intent('succeeded')), { kind: 'captured', reference: 'pi' })
  t.like(await authorize(async () => intent('requires_action')), { kind: 'refused' })
  t.deepEqual(
    calls.map(([name]) => name),
    ['create', 'cancel'],
    'no person can confirm it',
  )
  t.like(await authorize(async () => intent('canceled')), { kind: 'refused' })
  t.is(calls.length, 1)
  await t.throwsAsync(
    authorize(async () => intent('processing')),
    { code: 'service_unavailable' },
  )
  for (const other of [{ amount: 8 }, { currency: 'eur' }, { metadata: { mpp_challenge_id: 'x' } }])
    await t.throwsAsync(
      authorize(async () => intent('succeeded', other)),
      { code: 'service_unavailable' },
    )
  const declined = await authorize(throwing(fault('StripeCardError', { decline_code: 'stolen', code: 'x' })))
  t.deepEqual<unknown, unknown>(declined, { kind: 'refused', reason: 'the token was not accepted (stolen)' })
  t.like(await authorize(throwing(fault('StripeInvalidRequestError'))), { reason: 'the token was not accepted' })
  const down = await t.throwsAsync(authorize(throwing(fault('StripeConnectionError'))), { code: 'service_unavailable' })
  t.notRegex(String(down?.cause), /spt_1/)

  const payment = { challengeId: 'c', reference: 'pi' }
  const capture = (replies: Replies) => gatewayOf(replies).capture(payment)
  t.is(await capture({ capture: async () => intent('succeeded') }), 'captured')
  t.is(await capture({ capture: async () => intent('processing') }), 'refused')
  const unknown = throwing(fault('StripeConnectionError'))
  const refused = throwing(fault('StripeInvalidRequestError'))
  t.is(await capture({ capture: unknown, status: 'succeeded' }), 'captured')
  t.is(await capture({ capture: unknown, status: 'canceled' }), 'refused')
  t.is(await capture({ capture: refused, status: 'requires_capture' }), 'refused')
  await t.throwsAsync(capture({ capture: unknown, status: 'requires_capture' }), { code: 'service_unavailable' })
  const cancel = (replies: Replies) => gatewayOf(replies).cancel(payment)
  t.is(await cancel({}), 'canceled')
  t.is(await cancel({ cancel: refused, status: 'succeeded' }), 'captured')
  t.is(await cancel({ cancel: refused, status: 'canceled' }), 'canceled')
  await t.throwsAsync(cancel({ cancel: refused, status: 'requires_capture' }), { code: 'service_unavailable' })
})

test('Stripe gateway: payments of this service, and how each is', (t) => {
  const found = (members: object, realm = 'r') => {
    const intent = { id: 'pi', status: 'succeeded', amount: 7, currency: 'usd', capture_method: 'manual' }
    const metadata = { mpp_challenge_id: 'c', mpp_realm: 'r' }
    return foundIn({ ...intent, metadata, ...members } as unknown as Stripe.PaymentIntent, realm) // safe: no others are read
  }
  const standings = {
    requires_capture: 'held',
    succeeded: 'captured',
    canceled: 'released',
    requires_payment_method: 'released',
    processing: 'open',
    requires_action: 'open',
  }
  for (const [status, standing] of Object.entries(standings))
    t.is(found({ status })?.standing, standing as never, status)
  t.like(found({}), { challengeId: 'c', reference: 'pi', amountCents: 7, settlement: 'manual' })
  t.is(found({ capture_method: 'automatic_async' })?.settlement, 'automatic')
  t.is(found({}, 'x'), undefined)
  t.is(found({ metadata: { mpp_realm: 'r' } }), undefined)
})

test('doctor: a trial in test mode, from its token to its end', async (t) => {
  const trial = async (
    mode: 'manual' | 'automatic',
    kind: string,
    cancel = 'canceled',
    token = async () => 'spt_1',
  ) => {
    const gateway = { authorize: async () => ({ kind, reference: 'pi', reason: 'no' }), cancel: async () => cancel }
    const options = { gateway: gateway as never, grantTestToken: token, mode, amountCents: 7, trialId: 't' } // safe: no others are used
    return (await tryPayment(options)).map(({ ok }) => ok)
  }
  t.deepEqual(await trial('manual', 'authorized'), [true, true, true])
  t.deepEqual(await trial('automatic', 'captured'), [true, true])
  t.deepEqual(await trial('manual', 'captured'), [true, false])
  t.deepEqual(await trial('automatic', 'authorized'), [true, false])
  t.deepEqual(await trial('manual', 'refused'), [true, false])
  t.deepEqual(await trial('manual', 'authorized', 'captured'), [true, true, false])
  t.deepEqual(await trial('manual', 'authorized', 'canceled', () => Promise.reject(new Error('x'))), [false])
})
