import test from 'ava'
import { sampleRequest } from '../../../test/support/telemetry.ts'
import { isShown, parseStatus } from './filter.ts'

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
