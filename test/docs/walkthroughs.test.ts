import test from 'ava'
import type { Example } from '../support/documents.ts'
import { walkThrough } from '../support/walkthrough.ts'

/** Programs and commands, one after another, on a busy machine. */
const LONGEST_WALK_MS = 180_000

test('docs: the plugin tutorial works as written', async (t) => {
  t.timeout(LONGEST_WALK_MS)
  const { done, log } = await walkThrough(t, 'docs/plugin-tutorial.md')
  t.true(done.written === 5 && done.started === 2 && done.run > 9 && done.compared > 7, JSON.stringify(done))
  t.regex(log(), /"steps":"brief:asked/)
  t.regex(log(), /"msg":"brief\.ended"/)
})

test('docs: the page on caching works as written', async (t) => {
  t.timeout(LONGEST_WALK_MS)
  const { done } = await walkThrough(t, 'docs/how-caching-stays-safe.md')
  t.deepEqual(done, { written: 0, started: 1, run: 4, compared: 4 })
})

test('docs: the sandbox of the page for agents works as written', async (t) => {
  t.timeout(LONGEST_WALK_MS)
  const includes = ({ heading }: Example) => heading.includes('sandbox')
  const { done } = await walkThrough(t, 'docs/agents.md', { includes })
  t.deepEqual(done, { written: 0, started: 1, run: 1, compared: 0 })
})
