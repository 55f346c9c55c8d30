import test from 'ava'
import { leastCachedTokens } from './least-cached.ts'

const LEAST: readonly (readonly [model: string, tokens: number])[] = [
  ['claude-sonnet-4-5-20250929', 1024],
  ['claude-sonnet-4-6', 1024],
  ['claude-opus-4-1', 1024],
  ['claude-opus-4-20250514', 1024],
  ['claude-opus-4-5', 4096],
  ['anthropic/claude-opus-4.7', 4096],
  ['claude-opus-4-8', 1024],
  ['claude-haiku-4-5', 4096],
  ['eu.anthropic.claude-haiku-4-5-20251001-v1:0', 4096],
  ['claude-3-5-haiku-20241022', 2048],
  ['gpt-5.6', 1024],
]
for (const [model, tokens] of LEAST)
  test(`least cached: ${model} caches from ${tokens} tokens on`, (t) => {
    t.is(leastCachedTokens(model), tokens)
  })
