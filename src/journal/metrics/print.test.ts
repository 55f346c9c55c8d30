import test from 'ava'
import { printMetrics } from './print.ts'
import { Distributions, Values } from './series.ts'

test('metrics: labels from a client cannot break a line', (t) => {
  const values = new Values()
  values.add(1.5, 'a"b\\c\nd', 'm')
  const text = printMetrics([{ worker: undefined, snapshot: { turnpike_provider_cost_usd_total: values.samples() } }])
  t.true(text.includes('turnpike_provider_cost_usd_total{provider="a\\"b\\\\c\\nd",model="m"} 1.5\n'))
})

test('metrics: buckets are cumulative', (t) => {
  const definition = { kind: 'histogram', help: '', labels: [], buckets: [1, 2] } as const
  const values = new Distributions(definition)
  for (const value of [0.5, 1, 1.5, 2, 9]) values.observe(value)
  t.deepEqual(values.samples(), [[[], [2, 2, 1, 14]]])
})

test('metrics: series beyond the bound share one', (t) => {
  const values = new Values()
  for (let i = 0; i < 5000; i++) values.add(1, `code-${i}`)
  const samples = values.samples()
  t.is(samples.length, 1001)
  t.deepEqual(samples.at(-1), [['other'], 4000])
})

test('metrics: series of several processes are distinguished, and described once', (t) => {
  const snapshot = { turnpike_http_requests_in_flight: [[[], 1]] } as const
  const text = printMetrics([
    { worker: '1', snapshot },
    { worker: '2', snapshot },
  ])
  t.is(text.match(/# TYPE turnpike_http_requests_in_flight gauge/g)?.length, 1)
  t.true(text.includes('in_flight{worker="1"} 1\nturnpike_http_requests_in_flight{worker="2"} 1\n'))
})
