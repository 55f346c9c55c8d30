import test, { type ExecutionContext } from 'ava'
import { runCommandInThread } from '../support/command-in-thread.ts'
import { parseJson, valueAt } from '../support/json.ts'
import { createPluginDirectory } from '../support/plugin-folders.ts'

/** A configuration with this price file. */
function priced(t: ExecutionContext, prices = 'models: []', more = ''): { SVC_CONFIG: string; SVC_PRICES: string } {
  const folder = createPluginDirectory(t)
  return { SVC_CONFIG: folder.put('turnpike.yaml', more), SVC_PRICES: folder.put('prices.yaml', prices) }
}

test('cli: prices shows a model’s prices, of every size, and their source', async (t) => {
  const { code, stdout } = await runCommandInThread(['prices', 'claude-sonnet-4-5'], { env: priced(t) })
  t.is(code, 0)
  t.regex(stdout, /^anthropic\/claude-sonnet-4-5: list price \(anthropic\/claude-sonnet-4-5\)$/m)
  t.regex(stdout, /above 200,000/)
  t.regex(stdout, /^ {4}input +3 +6$/m)
  t.regex(stdout, /^ {4}cache_write_1h +6 +12$/m)
  t.regex(stdout, /web_search 10, web_fetch 0/)
  t.regex(stdout, /batch ×0\.5, us ×1\.1, fast ×2/)
})

test('cli: prices names the source of an unknown model’s price', async (t) => {
  const env = priced(t, undefined, 'prices: { ceiling: { input: 11, output: 22 } }')
  const { code, stdout } = await runCommandInThread(['prices', 'mystery', '--provider', 'mine'], { env })
  t.is(code, 0)
  t.regex(stdout, /^mine\/mystery: unknown: the ceiling of the configuration$/m)
  t.regex(stdout, /^ {4}output +22$/m)
})

test('cli: prices --json shows the operator’s price of every model that a name leads to', async (t) => {
  const env = priced(
    t,
    'models: [{ model: gpt-5, input: 1, output: 2 }]',
    'models: { quick: [openai/gpt-5, anthropic/claude-haiku-4-5] }',
  )
  const { code, stdout } = await runCommandInThread(['prices', 'quick', '--json'], { env })
  t.is(code, 0)
  const shown = parseJson(stdout)
  t.like(valueAt(shown, '0'), { provider: 'openai', source: 'operator', matched: 'gpt-5' })
  t.like(valueAt(shown, '0.prices.0'), { above: 0, input: 1, output: 2, cache_read: 1 })
  t.like(valueAt(shown, '1'), { provider: 'anthropic', source: 'catalogue' })
})

test('cli: a price file that cannot be used is a fault of the configuration', async (t) => {
  const { code, stderr, stdout } = await runCommandInThread(['prices', 'gpt-5'], {
    env: priced(t, 'models: [{ modle: a }]'),
  })
  t.is(code, 78)
  t.regex(stderr, /line 1: `models\.0\.modle`: unknown field\. Did you mean `model`\?/)
  t.is(stdout, '')
})
