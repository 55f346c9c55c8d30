import test from 'ava'
import fc from 'fast-check'
import { openExchange } from '../../../test/support/exchange.ts'
import { sampleReceipt } from '../../../test/support/receipts.ts'
import { NO_COST } from '../../core/money/prices.ts'
import { decimalUsd } from '../../core/money/usd.ts'
import { cacheOutcomeOf, finishedRequestOf } from './finished-request.ts'

const BODY = '{"model":"claude-x","max_tokens":5,"messages":[{"role":"user","content":"a secret question"}]}'
const kept = { hasReceipt: true, hasConversation: true, pricer: { split: () => NO_COST } }
const facts = () => ({ exchange: openExchange({ body: BODY, dialect: 'messages' }), admittedAtMs: 1_700_000_000_000 })

test('finished request: amounts equal the receipt’s, to the nano-dollar', (t) => {
  const check = (nanoUsd: number) => {
    const cost = { provider_usd: decimalUsd(nanoUsd), price_source: null, matched: null }
    t.is(finishedRequestOf(sampleReceipt({ cost }), facts(), kept).costNanoUsd, nanoUsd)
  }
  fc.assert(fc.property(fc.maxSafeNat(), check))
  const cost = { provider_usd: null, price_source: null, matched: null }
  t.is(finishedRequestOf(sampleReceipt({ cost }), facts(), kept).costNanoUsd, null)
})

test('finished request: the best of several cache results decides', (t) => {
  const outcomeOf = (...actions: string[]) => cacheOutcomeOf(actions.map((action) => ({ action })))
  t.is(outcomeOf(), 'none')
  t.is(outcomeOf('ran', 'held'), 'none')
  t.is(outcomeOf('miss', 'ran'), 'miss')
  t.is(outcomeOf('miss', 'hit'), 'hit')
  t.is(outcomeOf('attached', 'miss'), 'attached')
})

test('finished request: the trace has each step’s details, and no text of the request', (t) => {
  const { exchange, admittedAtMs } = facts()
  const trace = { module: 'm', action: 'ran', durationMs: 1 }
  exchange.record(trace)
  exchange.forStep(trace).note('done', { tools: 3 })
  const receipt = sampleReceipt({ steps: [{ module: 'm', action: 'done', ms: 1 }] })
  const finished = finishedRequestOf(receipt, { exchange, admittedAtMs }, kept)
  t.deepEqual(finished.trace.steps, [{ module: 'm', action: 'done', ms: 1, details: { tools: 3 } }])
  t.false(JSON.stringify(finished).includes('secret question'))
})

test('finished request: one that is only counted does not recognise its conversation', (t) => {
  const { exchange, admittedAtMs } = facts()
  Object.defineProperty(exchange, 'conversation', { get: () => t.fail('The conversation was read.') })
  const counted = { ...kept, hasConversation: false }
  t.is(finishedRequestOf(sampleReceipt(), { exchange, admittedAtMs }, counted).conversation, null)
})

test('finished request: a trace is bounded, whatever plugins recorded', (t) => {
  const { exchange, admittedAtMs } = facts()
  for (let i = 0; i < 500; i++) exchange.edit({ op: 'replace', path: ['max_tokens'], value: i + 1 })
  const steps = Array.from({ length: 500 }, () => ({ module: 'm', action: 'ran', ms: 1 }))
  const { trace } = finishedRequestOf(sampleReceipt({ steps }), { exchange, admittedAtMs }, kept)
  t.deepEqual([trace.steps.length, trace.edits.length], [32, 32])
})
