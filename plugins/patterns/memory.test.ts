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

test('memory: injections are kept for an hour after their last use', (t) => {
  const MINUTE_MS = 60_000
  let nowMs = 1
  const memory = new Memory({ nowMs: () => nowMs }, MB)
  memory.remember('moment', { version: 1, injections: [] })
  const recalledAfter = (minutes: number) => {
    nowMs += minutes * MINUTE_MS
    return memory.recall('moment') !== undefined
  }
  t.deepEqual([recalledAfter(50), recalledAfter(50), recalledAfter(50), recalledAfter(61)], [true, true, true, false])
})
