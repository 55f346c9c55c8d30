import test from 'ava'
import fc from 'fast-check'
import { columnsOf } from '../terminal/visible.ts'
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
