import test from 'ava'
import { bookOf, NOVEMBER_MS, usageOf } from '../../../test/support/price-usage.ts'
import { readUsage } from '../../core/reply/usage.ts'
import { billedCalls } from './billed-calls.ts'
import { ceilingSheet, writtenRates } from './ceiling.ts'
import { applyEntry, entryTarget } from './entry-sheet.ts'
import { withFreeDemo } from './free-demo.ts'
import { catalogueNames, catalogueProvider } from './model-names.ts'
import { overridesSchema, type PriceEntry } from './override-schema.ts'
import { findEntry } from './overrides.ts'
import { perRequest } from './sheet.ts'
import { documentedFactors } from './terms.ts'

test('model names: providers and models as the catalogue may have them', (t) => {
  const providers = {
    gemini: 'google',
    vertex: 'google',
    bedrock: 'aws',
    xai: 'x-ai',
    moonshot: 'moonshotai',
    openai: 'openai',
  }
  for (const [provider, expected] of Object.entries(providers)) t.is(catalogueProvider(provider), expected)
  const rows: [provider: string, model: string, expected: string[]][] = [
    ['openai', 'models/gpt-5@1', ['models/gpt-5@1']],
    ['gemini', 'models/gemini-2.5-pro', ['gemini-2.5-pro']],
    ['vertex', 'google/gemini-2.5-pro', ['gemini-2.5-pro']],
    ['vertex', 'publishers/anthropic/models/claude-x@20250929', ['claude-x@20250929', 'claude-x']],
    ['vertex', 'projects/p/locations/l/publishers/google/models/gemini-x', ['gemini-x']],
    ['vertex', 'my-models/x', ['my-models/x']],
    ['bedrock', 'anthropic.claude-x-v1:0', ['anthropic.claude-x-v1:0', 'anthropic.claude-x']],
    ['bedrock', 'amazon.nova-v1:0:300k', ['amazon.nova-v1:0:300k', 'amazon.nova']],
    ['bedrock', 'arn:aws:bedrock:us-east-1:1:inference-profile/us.a.b-v2', ['us.a.b-v2', 'a.b-v2', 'a.b']],
    ...['us', 'us-gov', 'eu', 'apac', 'jp', 'au', 'ca', 'in', 'global'].map((region): [string, string, string[]] => [
      'bedrock',
      `${region}.a.b`,
      [`${region}.a.b`, 'a.b'],
    ]),
    ['bedrock', 'meta.us.b', ['meta.us.b']],
    ['bedrock', 'a-v1:0-b', ['a-v1:0-b']],
  ]
  for (const [provider, model, expected] of rows) t.deepEqual(catalogueNames(provider, model), expected, model)
})

test('terms: factors as the providers document them', (t) => {
  const rows: [provider: string, model: string, factors: Record<string, number>][] = [
    ['anthropic', 'claude-opus-4-6', { batch: 0.5, us: 1.1, fast: 6 }],
    ['anthropic', 'claude-opus-4-7', { batch: 0.5, us: 1.1, fast: 6 }],
    ['anthropic', 'claude-opus-4-8', { batch: 0.5, us: 1.1, fast: 2 }],
    ['openai', 'gpt-5.5-mini', { batch: 0.5, flex: 0.5, priority: 2.5, fast: 2.5 }],
    ['openai', 'gpt-5', { batch: 0.5, flex: 0.5, priority: 2, fast: 2 }],
    ['google', 'claude-opus-4-6', { batch: 0.5, fast: 6 }],
    ['google', 'claude-sonnet-5', { batch: 0.5, fast: 2 }],
    ['google', 'gemini-3', { batch: 0.5, flex: 0.5, priority: 2 }],
    ['aws', 'nova', { batch: 0.5, flex: 0.5, priority: 1.75 }],
    ['x-ai', 'grok', {}],
  ]
  for (const [provider, model, factors] of rows) {
    const found = [...documentedFactors(provider, model)].map(([word, millionths]) => [word, Number(millionths) / 1e6])
    t.deepEqual(Object.fromEntries(found), factors, `${provider}/${model}`)
  }
})

test('billed calls: the model that answered, and calls that its counts leave out', (t) => {
  const asked = { provider: 'anthropic', model: 'asked' }
  const call = (type: string, model?: string) => ({ type, model, input_tokens: 1 })
  const calls = (raw: object, more: object = {}) => {
    const usage = { ...(readUsage({ input_tokens: 5, ...raw }) ?? usageOf()), ...more }
    return billedCalls(asked, usage).map(({ target, usage }) =>
      `${target.model} ${usage.inputTokens} ${usage.speed ?? ''}`.trim(),
    )
  }
  const rows: [raw: object, more: object, expected: string[]][] = [
    [{}, {}, ['asked 5']],
    [{}, { servedModel: 'served' }, ['served 5']],
    [{ iterations: [call('message', 'x')] }, {}, ['asked 5']],
    [{ iterations: [call('fallback_message', 'other')] }, { servedModel: 'served' }, ['other 5']],
    [{ iterations: [call('compaction')] }, {}, ['asked 5', 'asked 1']],
    [{ iterations: [call('advisor_message', 'wise')] }, {}, ['asked 5', 'wise 1']],
    [{ iterations: [call('compaction')], speed: 'fast' }, {}, ['asked 5 fast', 'asked 1 fast']],
    [{ iterations: [{ type: 'compaction' }] }, {}, ['asked 5']],
    [{ iterations: { type: 'compaction' } }, {}, ['asked 5']],
  ]
  for (const [raw, more, expected] of rows) t.deepEqual(calls(raw, more), expected, JSON.stringify(raw))
})

const parsed = (entry: object): PriceEntry => overridesSchema.parse({ models: [entry] }).models[0] as PriceEntry // safe: one in, one out

test('operator’s prices: written rates, steps, fees and factors; what is unset stays as listed', (t) => {
  const list = ceilingSheet({ input: 10, output: 20, web_search: 30 })
  t.like(applyEntry(parsed({ model: 'm', call: 1, web_search: 2, web_fetch: 3 }), list), {
    source: 'ceiling',
    matched: undefined,
    call: perRequest(1),
    webSearch: perRequest(2),
    webFetch: perRequest(3),
    steps: list.steps,
  })
  const listed = { ...list, source: 'catalogue', matched: 'a/b' } as const
  t.like(applyEntry(parsed({ model: 'm', factor: 0.5 }), listed), {
    source: 'operator',
    matched: 'a/b',
    webSearch: list.webSearch,
  })
  t.deepEqual(applyEntry(parsed({ model: 'm', factor: 0.5 }), listed).steps[0].rates, {
    input: 5_000_000n,
    cacheRead: 5_000_000n,
    cacheWrite5m: 6_250_000n,
    cacheWrite1h: 10_000_000n,
    output: 10_000_000n,
  })
  const long_context = [
    { above: 200, input: 4, output: 5 },
    { above: 100, input: 2, output: 3 },
  ]
  const own = applyEntry(
    parsed({ pattern: 'm.*', input: 1, output: 2, cache_read: 0.1, long_context, factors: { us: 3 } }),
    listed,
  )
  t.is(own.matched, 'm.*')
  t.deepEqual(
    own.steps.map(({ aboveInputTokens, rates }) => [aboveInputTokens, rates.input, rates.output]),
    [
      [0, 1_000_000n, 2_000_000n],
      [100, 2_000_000n, 3_000_000n],
      [200, 4_000_000n, 5_000_000n],
    ],
  )
  t.is(own.steps[0].rates.cacheRead, 100_000n)
  t.deepEqual([own.factors.get('us'), own.factors.get('fast')], [3_000_000n, 6_000_000n])
  t.deepEqual(writtenRates({ input: 1, output: 2, cache_read: 0, cache_write_5m: 0, cache_write_1h: 0 }), {
    input: 1_000_000n,
    cacheRead: 0n,
    cacheWrite5m: 0n,
    cacheWrite1h: 0n,
    output: 2_000_000n,
  })
  t.deepEqual(entryTarget(parsed({ model: 'm', same_as: 'openrouter/a/b' })), { provider: 'openrouter', model: 'a/b' })
  t.is(entryTarget(parsed({ model: 'm' })), undefined)
})

test('operator’s prices: faults of an entry are refused', (t) => {
  const isValid = (entry: object) => overridesSchema.safeParse({ models: [entry] }).success
  const prices = { input: 1, output: 2 }
  for (const entry of [
    { model: 'm', ...prices },
    { model: 'm', input: 0, output: 1_000_000, cache_read: 0, long_context: [{ above: 1, ...prices }] },
    { pattern: 'm', provider: 'p', factor: 0, factors: { us: 1000 } },
  ])
    t.true(isValid(entry), JSON.stringify(entry))
  for (const entry of [
    prices,
    { model: 'm', pattern: 'm' },
    { model: '', ...prices },
    { pattern: '(' },
    { model: 'm', input: 1 },
    { model: 'm', output: 1 },
    { model: 'm', input: -1, output: 1 },
    { model: 'm', input: 1, output: 1_000_001 },
    { model: 'm', same_as: 'a/b', ...prices },
    { model: 'm', same_as: 'a' },
    { model: 'm', same_as: '/b' },
    ...['cache_read', 'cache_write_5m', 'cache_write_1h'].map((name) => ({ model: 'm', [name]: 1 })),
    { model: 'm', long_context: [] },
    { model: 'm', ...prices, long_context: [{ above: 0, ...prices }] },
    { model: 'm', factor: -1 },
    { model: 'm', factors: { us: 1001 } },
    { model: 'm', novel: 1 },
  ])
    t.false(isValid(entry), JSON.stringify(entry))
})

test('operator’s prices: an exact name before a pattern, a provider’s own before all, the first of equals', (t) => {
  const entries = [
    { pattern: 'm.*', factor: 1 },
    { pattern: 'm.*', factor: 2 },
    { pattern: 'm.*', provider: 'p', factor: 3 },
    { model: 'm1', factor: 4 },
    { model: 'm1', factor: 5 },
    { model: 'm1', provider: 'p', factor: 6 },
    { model: 'm2', factor: 7 },
  ]
  const overrides = overridesSchema.parse({ models: entries })
  const found = (provider: string, model: string) => findEntry(overrides, { provider, model })?.factor
  t.deepEqual(
    [
      found('p', 'm1'),
      found('q', 'm1'),
      found('p', 'm2'),
      found('p', 'm3'),
      found('q', 'm3'),
      found('q', 'xm3'),
      found('q', 'n'),
    ],
    [6, 4, 7, 3, 1, undefined, undefined],
  )
})

test('price book: the least certain source of a sum counts; the demo is free', (t) => {
  const book = bookOf([
    { model: 'own', input: 1, output: 1 },
    { model: 'claude-haiku-4-5', provider: 'anthropic', factor: 2 },
  ])
  const sourceOf = (model: string, inner: string) => {
    const iterations = [{ type: 'advisor_message', model: inner, input_tokens: 1 }]
    const usage = readUsage({ input_tokens: 1, iterations }) ?? usageOf()
    return book.price({ provider: 'anthropic', model }, usage, NOVEMBER_MS).source
  }
  t.deepEqual(
    [
      sourceOf('own', 'own'),
      sourceOf('own', 'claude-opus-5'),
      sourceOf('claude-opus-5', 'own'),
      sourceOf('own', 'x'),
      sourceOf('x', 'claude-opus-5'),
    ],
    ['operator', 'catalogue', 'catalogue', 'ceiling', 'ceiling'],
  )
  const usage = usageOf({ inputTokens: 1000 })
  const cost = () => book.price({ provider: 'anthropic', model: 'claude-haiku-4-5' }, usage, NOVEMBER_MS).costNanoUsd
  t.deepEqual([cost(), cost()], [2_000_000, 2_000_000], 'the factor applies once')
  const free = withFreeDemo(book)
  t.is(free.price({ provider: 'demo', model: 'claude-haiku-4-5' }, usage, NOVEMBER_MS).costNanoUsd, 0)
  t.is(free.price({ provider: 'anthropic', model: 'claude-haiku-4-5' }, usage, NOVEMBER_MS).costNanoUsd, 2_000_000)
  const rates = (provider: string) => free.rates({ provider, model: 'own' }, { inputTokens: 5 }, NOVEMBER_MS)
  t.deepEqual(
    Object.values(rates('demo')),
    Object.values(rates('demo')).map(() => 0),
  )
  t.is(rates('x').inputNanoUsd, 1000)
})
