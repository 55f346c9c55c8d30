import test from 'ava'
import fc from 'fast-check'
import { readUsage } from '../../../core/reply/usage.ts'
import { readChatUsage, toChatUsage } from './usage.ts'

test('chat usage: tokens read from and written to the cache are not input tokens', (t) => {
  const usage = readChatUsage({
    prompt_tokens: 100,
    completion_tokens: 7,
    total_tokens: 107,
    prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 },
  })
  t.like(usage, { inputTokens: 10, cacheReadInputTokens: 60, cacheCreationInputTokens: 30, outputTokens: 7 })
})

test('chat usage: reasoning is part of the output, and reported as thinking', (t) => {
  const usage = readChatUsage({
    prompt_tokens: 13,
    completion_tokens: 238,
    total_tokens: 251,
    completion_tokens_details: { reasoning_tokens: 192 },
  })
  t.is(usage?.outputTokens, 238)
  t.deepEqual(usage?.raw.output_tokens_details, { thinking_tokens: 192 })
})

test('chat usage: reasoning that the total counts separately is added to the output', (t) => {
  const usage = readChatUsage({
    prompt_tokens: 32,
    completion_tokens: 9,
    total_tokens: 135,
    completion_tokens_details: { reasoning_tokens: 94 },
  })
  t.is(usage?.outputTokens, 103)
})

test('chat usage: a DeepSeek cache hit is a cache read', (t) => {
  const usage = readChatUsage({ prompt_tokens: 50, completion_tokens: 1, prompt_cache_hit_tokens: 48 })
  t.like(usage, { inputTokens: 2, cacheReadInputTokens: 48 })
})

for (const [what, raw] of Object.entries({
  null: null,
  'an array': [1],
  'an empty object': {},
  words: { prompt_tokens: 'many' },
})) {
  test(`chat usage: ${what} is none`, (t) => {
    t.is(readChatUsage(raw), undefined)
  })
}

test('chat usage: no count is ever negative', (t) => {
  const count = fc.option(fc.oneof(fc.nat(), fc.integer(), fc.double(), fc.string()))
  const details = fc.option(fc.record({ cached_tokens: count, cache_write_tokens: count, reasoning_tokens: count }))
  const raw = fc.record({
    prompt_tokens: fc.nat(),
    completion_tokens: count,
    total_tokens: count,
    prompt_tokens_details: details,
    completion_tokens_details: details,
  })
  t.notThrows(() =>
    fc.assert(
      fc.property(raw, (reported) => {
        const usage = readChatUsage(reported)
        const counts = [usage?.inputTokens, usage?.cacheReadInputTokens, usage?.outputTokens]
        return counts.every((tokens) => Number.isSafeInteger(tokens) && Number(tokens) >= 0)
      }),
    ),
  )
})

test('chat usage: counts of a message survive to chat and back', (t) => {
  const message = fc.record({
    input_tokens: fc.nat(),
    cache_creation_input_tokens: fc.nat(),
    cache_read_input_tokens: fc.nat(),
    output_tokens: fc.integer({ min: 1000, max: 100_000 }),
    output_tokens_details: fc.record({ thinking_tokens: fc.nat(1000) }),
  })
  t.notThrows(() =>
    fc.assert(
      fc.property(message, (raw) => {
        t.deepEqual(readChatUsage(toChatUsage(readUsage(raw)))?.raw, raw)
      }),
    ),
  )
})
