import test from 'ava'
import type { Injection } from './decide.ts'
import { Memory } from './memory.ts'

const MB = 1024 * 1024

function injection(text: string): Injection {
  return { name: 'p', position: 'system-append', scope: 'conversation', group: undefined, text, tokens: 1 }
}

test('memory: evicts the least recently used long texts to stay within its bound', (t) => {
  const memory = new Memory({ nowMs: () => 0 }, MB)
  const count = 100
  for (let i = 0; i < count; i++)
    memory.remember(`moment ${i}`, { version: 1, injections: [injection('x'.repeat(20_000))] })
  const kept = Array.from({ length: count }, (_, i) => memory.recall(`moment ${i}`) !== undefined)
  t.true(kept.filter(Boolean).length >= 20)
  t.true(kept.filter(Boolean).length <= MB / 40_000)
  t.true(kept.at(-1))
  t.false(kept[0])
})
