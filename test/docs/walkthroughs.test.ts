import test from 'ava'
import { walkThrough } from '../support/walkthrough.ts'

test('docs: the plugin tutorial does what it says', async (t) => {
  const { done, log } = await walkThrough(t, 'docs/plugin-tutorial.md')
  t.true(done.written === 3 && done.started === 2 && done.run > 7 && done.compared > 7, JSON.stringify(done))
  t.regex(log(), /"steps":"brief:asked/)
  t.regex(log(), /"msg":"brief\.ended"/)
})
