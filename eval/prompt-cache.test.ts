import test from 'ava'
import { PromptCache } from './prompt-cache.ts'

const block = (text: string, tokens = 1000) => ({ text, tokens })
const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((text) => block(text)) as [never, never, never, never]

test('prompt-cache: the former prefix is read, new blocks are written', (t) => {
  const cache = new PromptCache()
  t.like(cache.call([a, b]), { readTokens: 0, writtenTokens: 2000, uncachedTokens: 0, cost: 2500, isBreak: false })
  t.like(cache.call([a, b, c]), { readTokens: 2000, writtenTokens: 1000, cost: 1450, isBreak: false })
})

test('prompt-cache: a changed block is a break, and all blocks behind it are written again', (t) => {
  const cache = new PromptCache()
  cache.call([a, b, c])
  t.like(cache.call([a, d, c]), { readTokens: 1000, writtenTokens: 2000, isBreak: true })
})

test('prompt-cache: the prefix of an earlier call is still there after a break', (t) => {
  const cache = new PromptCache()
  cache.call([a, b, c])
  cache.call([a, d, c])
  t.like(cache.call([a, b, c, d]), { readTokens: 3000, writtenTokens: 1000, isBreak: true })
})

test('prompt-cache: a truncated prompt is a break', (t) => {
  const cache = new PromptCache()
  cache.call([a, b, c])
  t.like(cache.call([a, b]), { readTokens: 2000, writtenTokens: 0, isBreak: true })
})

test('prompt-cache: a short prompt is not cached', (t) => {
  const cache = new PromptCache()
  const short = block('a', 600)
  t.like(cache.call([short]), { readTokens: 0, writtenTokens: 0, uncachedTokens: 600, cost: 600 })
  t.like(cache.call([short, block('b', 600)]), { readTokens: 0, writtenTokens: 1200, isBreak: false })
})

test('prompt-cache: the same bytes are the same block', (t) => {
  const cache = new PromptCache()
  cache.call([a, b])
  t.is(cache.call([{ text: Buffer.from('a'), tokens: 1000 }, b]).readTokens, 2000)
})
