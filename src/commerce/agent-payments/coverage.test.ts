import test from 'ava'
import fc from 'fast-check'
import { openExchange } from '../../../test/support/exchange.ts'
import { GatewayError } from '../../core/errors.ts'
import type { Prices } from '../../core/money/prices.ts'
import type { TokenCounter } from '../../core/ports/token-counter.ts'
import { assertCovered, type Coverage, coverageOf } from './coverage.ts'

const TARGET = { provider: 'anthropic', model: 'claude-x' }
const COVERS = 500_000_000
const [INPUT, OUTPUT, SEARCH] = [3000, 15_000, 10_000_000]

const prices: Prices = {
  price: (_target, { webSearchRequests }) => ({
    costNanoUsd: webSearchRequests * SEARCH,
    source: 'catalogue',
    matched: undefined,
  }),
  rates: () => ({
    inputNanoUsd: INPUT,
    cacheWrite5mNanoUsd: INPUT * 1.25,
    cacheWrite1hNanoUsd: INPUT * 2,
    outputNanoUsd: OUTPUT,
    cacheReadNanoUsd: 0,
    webSearchNanoUsd: SEARCH,
    webFetchNanoUsd: 0,
    callNanoUsd: 0,
  }),
}
const tokens: TokenCounter = { inputTokens: () => 1000 }

function coverage(fields: object, maxTokens = 1000): Coverage {
  const body = JSON.stringify({
    model: 'claude-x',
    max_tokens: maxTokens,
    messages: [{ role: 'user', content: 'x' }],
    ...fields,
  })
  const asked = openExchange({ body, dialect: 'messages', targets: [TARGET] })
  return coverageOf(asked, { prices, tokens, coversNanoUsd: COVERS, atMs: 0 })
}

const search = (max_uses?: unknown) => ({ type: 'web_search_20250305', name: 'web_search', max_uses })

test('coverage: a thinking budget above max_tokens is the bound of the output', (t) => {
  const thinking = (budget_tokens: number) => coverage({ thinking: { type: 'enabled', budget_tokens } }).worstNanoUsd
  t.is(thinking(999), coverage({}).worstNanoUsd)
  t.is(thinking(9000), coverage({}, 9000).worstNanoUsd)
})

test('coverage: a search counts with its fee, its results, and their repeated reading', (t) => {
  const plain = coverage({})
  const one = coverage({ tools: [search(1)] })
  const [input, read] = [1332 * INPUT, INPUT * 1.25]
  t.is(plain.worstNanoUsd, input + 1000 * OUTPUT)
  t.is(one.worstNanoUsd, 2 * input + SEARCH + 20_000 * read + 1000 * (OUTPUT + read))
  const three = coverage({ tools: [search(1), search(2)] })
  t.is(three.worstNanoUsd, 4 * input + 3 * SEARCH + 6 * 20_000 * read + 1000 * (OUTPUT + 3 * read))
})

test('coverage: more searches than the price covers are refused, with the number that is covered', (t) => {
  t.notThrows(() => assertCovered(coverage({ tools: [search(2)] })))
  const error = t.throws(() => assertCovered(coverage({ tools: [search(20)] })), { instanceOf: GatewayError })
  t.is(error?.code, 'price_too_low')
  t.regex(String(error?.message), /lower `max_uses`/)
})

test('coverage: a search without a bound is refused with the path of the bound', (t) => {
  for (const uses of [undefined, null, 0, -1, 1.5, '3']) {
    const error = t.throws(() => coverage({ tools: [{ name: 'own' }, search(uses)] }), { instanceOf: GatewayError })
    t.regex(String(error?.message), /^tools\.1\.max_uses: /)
  }
})

test('coverage: unbounded work is refused, under any name', (t) => {
  const unbounded: readonly (readonly [object, RegExp])[] = [
    [{ tools: [{ type: 'code_execution_20260120', name: 'code_execution' }] }, /^tools\.0: .*code_execution_20260120/],
    [{ tools: [{ type: 'web_fetch_20250910', name: 'web_fetch', max_uses: 1 }] }, /^tools\.0: /],
    [{ tools: [{ type: 'advisor_20260301', name: 'advisor', model: 'claude-opus' }] }, /^tools\.0: /],
    [{ tools: [{ type: 'a_tool_of_tomorrow', name: 'x' }] }, /^tools\.0: /],
    [{ mcp_servers: [{ type: 'url', url: 'https://example.com', name: 'x' }] }, /^mcp_servers: /],
    [{ fallbacks: [{ model: 'claude-opus' }] }, /^fallbacks: /],
    [{ context_management: { edits: [{ type: 'compact_20260112' }] } }, /^context_management: /],
  ]
  for (const [fields, words] of unbounded) {
    const error = t.throws(() => coverage(fields), { instanceOf: GatewayError }, JSON.stringify(fields))
    t.is(error?.code, 'price_too_low')
    t.regex(String(error?.message), words)
  }
})

test('coverage: a remote document is refused, an inline one is counted', (t) => {
  const asking = (source: object) => {
    const document = { type: 'document', source }
    return { messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: [document] }] }] }
  }
  for (const source of [
    { type: 'url', url: 'https://example.com/long.pdf' },
    { type: 'file', file_id: 'file_1' },
  ]) {
    const error = t.throws(() => coverage(asking(source)), { instanceOf: GatewayError })
    t.regex(String(error?.message), /^messages\.0\.content\.0\.content\.0: /)
  }
  t.notThrows(() => coverage(asking({ type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' })))
  t.notThrows(() => coverage({ messages: [{ role: 'user', content: 'a "document" by {"type":"url"}' }] }))
})

test('coverage: client-side tools cost what their text costs', (t) => {
  const tools = [
    { name: 'own', input_schema: {} },
    { type: 'custom', name: 'own', input_schema: {} },
    { type: 'bash_20250124', name: 'bash' },
    { type: 'text_editor_20250728', name: 'e' },
    { type: 'computer_20250124', name: 'c' },
    { type: 'memory_20250818', name: 'm' },
  ]
  const edits = [{ type: 'clear_tool_uses_20250919' }]
  const rest = { mcp_servers: [], context_management: { edits }, metadata: { user_id: 'u' } }
  t.deepEqual(coverage({ tools, ...rest }), coverage({}))
})

test('coverage: searching for tools may repeat the whole input ten times', (t) => {
  const { worstNanoUsd } = coverage({ tools: [{ type: 'tool_search_tool_bm25_20251119', name: 's' }] })
  t.is(worstNanoUsd, 11 * 1332 * INPUT + 1000 * (OUTPUT + 10 * INPUT * 1.25))
})

/** Returns a provider's bill for these searches in each round. */
function billed(arrangement: readonly number[], maxTokens: number): number {
  let [context, cost] = [1000, 1000 * INPUT]
  for (const searches of arrangement) {
    context += searches * 20_000
    cost += searches * SEARCH + context * INPUT * 1.25
  }
  // Everything is written to the cache in the first round, and read in all others.
  return cost + maxTokens * (OUTPUT + arrangement.length * INPUT * 1.25)
}

test('coverage: no arrangement of the searches costs more than the bound', (t) => {
  let full = 0
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 10 }),
      fc.integer({ min: 1, max: 5000 }),
      (arrangement, maxTokens) => {
        const uses = arrangement.reduce((sum, each) => sum + each, 0)
        const { worstNanoUsd } = coverage({ tools: [search(uses)] }, maxTokens)
        if (uses > 10) full++
        t.true(billed(arrangement, maxTokens) <= worstNanoUsd)
      },
    ),
  )
  t.true(full > 10, `${full} had more searches than rounds`)
})
