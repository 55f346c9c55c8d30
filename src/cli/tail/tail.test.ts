import { mock } from 'node:test'
import test from 'ava'
import fc from 'fast-check'
import { fakeTimers } from '../../../test/support/fake-timers.ts'
import { sampleRequest } from '../../../test/support/telemetry.ts'
import { columnsOf } from '../terminal/visible.ts'
import { isShown, parseStatus } from './filter.ts'
import { follow } from './follow.ts'
import { headLine, type LiveRequest, modulesOf, requestLine } from './row.ts'

const plain = (_: unknown, text: string) => text
const step = (module: string, action: string) => ({ module, action, ms: 1 })

const request = fc.record({
  id: fc.constant('rcpt_1'),
  status: fc.option(fc.integer({ min: 100, max: 599 })),
  outcome: fc.constantFrom('complete', 'incomplete', 'cancelled', 'error'),
  cache: fc.constantFrom('hit', 'attached', 'miss', 'none'),
  modelAsked: fc.string({ unit: 'binary', maxLength: 60 }),
  modelServed: fc.option(fc.string({ maxLength: 60 })),
  startedAtMs: fc.integer({ min: 0, max: 2e12 }),
  totalMs: fc.double({ min: 0, max: 1e7, noNaN: true }),
  costNanoUsd: fc.option(fc.integer({ min: 0, max: 1e14 })),
  counterfactualNanoUsd: fc.option(fc.integer({ min: 0, max: 1e14 })),
  counterfactualBasis: fc.constantFrom('same', 'estimate'),
  tokens: fc.option(
    fc.record({ input: fc.nat(1e8), output: fc.nat(1e8), cacheRead: fc.nat(1e8), cacheWrite: fc.nat(1e8) }),
  ),
  tags: fc.array(fc.string({ maxLength: 40 }), { maxLength: 8 }),
  steps: fc.array(
    fc.record({ module: fc.string(), action: fc.constantFrom('ran', 'hit', 'miss', 'held'), ms: fc.constant(1) }),
  ),
})

test('tail: every line fits its terminal and aligns with its head', (t) => {
  let full = 0
  fc.assert(
    fc.property(request, fc.integer({ min: 40, max: 200 }), (made, columns) => {
      const line = requestLine(made as unknown as LiveRequest, columns, plain) // safe: it has the members that a line shows
      if (columnsOf(line) === columns) full++
      return columnsOf(line) <= columns && columnsOf(headLine(columns, plain)) <= columns && !/\n/.test(line)
    }),
  )
  t.true(full > 0, `${full} lines were full`)
})

test('tail: plugins are shown in full, else those with a result, else by initials, else cut', (t) => {
  const steps = [step('exact-cache', 'miss'), step('compress', 'idle'), step('cost-guard', 'held')]
  t.is(modulesOf(steps, 60), 'exact-cache:miss compress cost-guard:held')
  t.is(modulesOf(steps, 20), 'cost-guard:held')
  t.is(modulesOf(steps.slice(0, 2), 10), 'ec:miss co')
  t.is(modulesOf(steps, 8), 'cg:held')
  t.is(modulesOf(steps, 4), 'ec:…')
})

const REQUEST = sampleRequest({
  id: 'rcpt_1',
  requestId: 'req_2',
  keyId: 'key_3',
  modelAsked: 'quick',
  modelServed: 'claude-opus-4-5',
  provider: 'anthropic',
  pipeline: 'exact-cache,cost-guard',
  reason: 'The day is over.',
  cache: 'hit',
})

test('tail: a model is found by the name that was asked for and by the one that replied, in either case', (t) => {
  for (const model of ['quick', 'QUI', 'claude-opus', 'Opus']) t.true(isShown(REQUEST, { model }), model)
  for (const model of ['sonnet', 'anthropic', 'req_2']) t.false(isShown(REQUEST, { model }), model)
})

test('tail: a text is found in each of its fields', (t) => {
  for (const text of ['RCPT_1', 'req_2', 'key_3', 'quick', 'opus', 'anthropic', 'exact-cache', 'day is over'])
    t.true(isShown(REQUEST, { text }), text)
  t.false(isShown(REQUEST, { text: 'sonnet' }))
})

test('tail: a key and a cache result are equal, and all members must match', (t) => {
  t.true(isShown(REQUEST, { key: 'key_3', cache: 'hit', model: 'quick', text: 'req', status: parseStatus('200') }))
  t.false(isShown(REQUEST, { key: 'key_' }))
  t.false(isShown(REQUEST, { cache: 'miss' }))
  t.false(isShown(REQUEST, { key: 'key_3', cache: 'attached' }))
})

test('tail: a status is a number, a class, or an outcome', (t) => {
  const shows = (text: string, status: number | null, outcome: 'complete' | 'incomplete' = 'complete') =>
    isShown(sampleRequest({ status, outcome }), { status: parseStatus(text) })
  t.deepEqual([shows('429', 429), shows('429', 420), shows('4xx', 404), shows('4xx', 504)], [true, false, true, false])
  t.deepEqual([shows('ok', 200), shows('ok', 200, 'incomplete')], [true, false])
  t.deepEqual([shows('failed', 200, 'incomplete'), shows('failed', 200)], [true, false])
  t.false(shows('5xx', null))
  for (const text of ['bad', '99', '600', '6xx', '4x', '4xxx', '']) t.throws(() => parseStatus(text), undefined, text)
})

const SILENCE_MS = 45_000

test('follow: a connection is given up after 45 s without bytes, not before', async (t) => {
  const pass = fakeTimers(t)
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const writer = writable.getWriter()
  let signal: AbortSignal | null | undefined
  const fetched = mock.method(globalThis, 'fetch', async (_: string, init: RequestInit) => {
    signal = init.signal
    return new Response(readable)
  })
  t.teardown(() => fetched.mock.restore())
  const stopped = new AbortController()
  const feed = follow({ url: 'http://gateway', headers: {} }, stopped.signal)
  t.deepEqual((await feed.next()).value, { kind: 'open' })
  const next = feed.next()
  for (let i = 0; i < 3; i++) {
    pass(SILENCE_MS - 1)
    await writer.write(Buffer.from(': here\n\n'))
    await new Promise(setImmediate)
  }
  t.false(signal?.aborted)
  pass(SILENCE_MS)
  t.true(signal?.aborted)
  stopped.abort()
  await writer.abort()
  t.true((await next).done)
})
