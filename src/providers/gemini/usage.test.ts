import test from 'ava'
import { mergeUsage } from '../../core/reply/usage.ts'
import { readGeminiUsage } from './usage.ts'

test('gemini usage: cached tokens are not input, thinking is output, tool prompts are input', (t) => {
  const raw = {
    promptTokenCount: 100,
    cachedContentTokenCount: 60,
    toolUsePromptTokenCount: 5,
    candidatesTokenCount: 7,
    thoughtsTokenCount: 30,
    totalTokenCount: 142,
  }
  t.like(readGeminiUsage(raw), {
    inputTokens: 45,
    cacheReadInputTokens: 60,
    outputTokens: 37,
    cacheCreationInputTokens: 0,
  })
})

test('gemini usage: an object without counts is undefined', (t) => {
  for (const raw of [undefined, null, 5, 'x', [], {}, { promptTokenCount: '5' }, { trafficType: 'ON_DEMAND' }]) {
    t.is(readGeminiUsage(raw), undefined, JSON.stringify(raw))
  }
})

test('gemini usage: counts are never below 0', (t) => {
  t.like(readGeminiUsage({ promptTokenCount: 5, cachedContentTokenCount: 9, candidatesTokenCount: -3 }), {
    inputTokens: 0,
    cacheReadInputTokens: 9,
    outputTokens: 0,
  })
})

test('gemini usage: later counts replace earlier ones', (t) => {
  const earlier = readGeminiUsage({ promptTokenCount: 5 })
  const later = readGeminiUsage({ promptTokenCount: 5, candidatesTokenCount: 3 })
  t.like(mergeUsage(earlier, later), { inputTokens: 5, outputTokens: 3 })
})
