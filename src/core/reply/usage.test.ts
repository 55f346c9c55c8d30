import test from 'ava'
import fc from 'fast-check'
import { mergeUsage, readUsage } from './usage.ts'

// The usage objects below are those of recorded streams: code execution with a prompt cache, and a proxy's short ones.
const start = {
  input_tokens: 2,
  cache_creation_input_tokens: 3068,
  cache_read_input_tokens: 0,
  cache_creation: { ephemeral_5m_input_tokens: 3068, ephemeral_1h_input_tokens: 0 },
  output_tokens: 69,
  service_tier: 'standard',
  inference_geo: 'global',
}
const final = {
  input_tokens: 6,
  cache_creation_input_tokens: 3337,
  cache_read_input_tokens: 6289,
  output_tokens: 198,
  output_tokens_details: { thinking_tokens: 0 },
  server_tool_use: { web_search_requests: 1, web_fetch_requests: 2 },
}

const count = fc.option(fc.nat(), { nil: null })
const rawUsage = fc.record(
  {
    input_tokens: fc.nat(),
    output_tokens: count,
    cache_read_input_tokens: count,
    cache_creation_input_tokens: count,
    cache_creation: fc.option(fc.record({ ephemeral_5m_input_tokens: count, ephemeral_1h_input_tokens: count })),
    service_tier: fc.option(fc.constantFrom('standard', 'batch')),
  },
  { requiredKeys: ['input_tokens'] },
)

test('readUsage: reads a message_start, lifetimes of cached tokens and words included', (t) => {
  t.deepEqual(readUsage(start), {
    inputTokens: 2,
    outputTokens: 69,
    cacheReadInputTokens: 0,
    cacheCreationInputTokens: 3068,
    cacheCreation: { ephemeral5m: 3068, ephemeral1h: 0 },
    webSearchRequests: 0,
    webFetchRequests: 0,
    serviceTier: 'standard',
    inferenceGeo: 'global',
    raw: start,
  })
})

test('readUsage: absent and null counts are 0', (t) => {
  const usage = readUsage({ output_tokens: 15, cache_read_input_tokens: null, cache_creation: null })
  t.like(usage, { inputTokens: 0, outputTokens: 15, cacheReadInputTokens: 0, cacheCreationInputTokens: 0 })
  t.false('cacheCreation' in (usage ?? {}))
})

test('readUsage: a value that is no integer of 0 or more counts as absent', (t) => {
  const odd = { input_tokens: -1, output_tokens: 7, cache_read_input_tokens: 1.5, cache_creation_input_tokens: '3' }
  t.like(readUsage(odd), { inputTokens: 0, outputTokens: 7, cacheReadInputTokens: 0, cacheCreationInputTokens: 0 })
})

for (const raw of [undefined, null, 'usage', [], {}, { input_tokens: 'many' }, { service_tier: 'standard' }]) {
  test(`readUsage: ${JSON.stringify(raw)} is no usage`, (t) => {
    t.is(readUsage(raw), undefined)
  })
}

test('readUsage: without a total, written tokens are the sum of their lifetimes', (t) => {
  const raw = { input_tokens: 1, cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 5 } }
  t.is(readUsage(raw)?.cacheCreationInputTokens, 15)
})

test('mergeUsage: the final counts replace the first, and what they omit stays', (t) => {
  t.like(mergeUsage(readUsage(start), readUsage(final)), {
    inputTokens: 6,
    outputTokens: 198,
    cacheReadInputTokens: 6289,
    cacheCreationInputTokens: 3337,
    webSearchRequests: 1,
    webFetchRequests: 2,
    serviceTier: 'standard',
    raw: { ...start, ...final },
  })
})

test('mergeUsage: a final count without lifetimes keeps their kind and adds up to the total', (t) => {
  t.deepEqual(mergeUsage(readUsage(start), readUsage(final))?.cacheCreation, { ephemeral5m: 3337, ephemeral1h: 0 })
  const oneHour = { ...start, cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 3068 } }
  t.deepEqual(mergeUsage(readUsage(oneHour), readUsage(final))?.cacheCreation, { ephemeral5m: 0, ephemeral1h: 3337 })
})

test('mergeUsage: null keeps, 0 replaces', (t) => {
  const later = readUsage({ input_tokens: null, cache_creation_input_tokens: 0, output_tokens: 9 })
  t.like(mergeUsage(readUsage(start), later), { inputTokens: 2, cacheCreationInputTokens: 0, outputTokens: 9 })
})

test('mergeUsage: a side that is missing is the other side', (t) => {
  const usage = readUsage(start)
  t.is(mergeUsage(usage, undefined), usage)
  t.is(mergeUsage(undefined, usage), usage)
  t.is(mergeUsage(undefined, undefined), undefined)
})

test('mergeUsage: the grouping of merges makes no difference, and lifetimes always add up', (t) => {
  const property = fc.property(rawUsage, rawUsage, rawUsage, (...raws) => {
    const [a, b, c] = raws.map(readUsage)
    const merged = mergeUsage(mergeUsage(a, b), c)
    t.deepEqual(merged, mergeUsage(a, mergeUsage(b, c)))
    if (merged?.cacheCreation === undefined) return
    const { ephemeral5m, ephemeral1h } = merged.cacheCreation
    t.is(ephemeral5m + ephemeral1h, merged.cacheCreationInputTokens)
    t.true(ephemeral5m >= 0 && ephemeral1h >= 0)
  })
  t.notThrows(() => fc.assert(property))
})
