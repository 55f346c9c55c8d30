import { readFileSync } from 'node:fs'
import path from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { createPluginDirectory } from '../../../test/support/plugin-folders.ts'
import { CEILING, NOVEMBER_MS, usageOf } from '../../../test/support/price-usage.ts'
import { createPriceBook } from './book.ts'
import { fieldsAt } from './override-schema.ts'
import { loadPriceOverrides, PriceFileError } from './overrides.ts'

const OWN_FILE = path.resolve(import.meta.dirname, '../../../config/prices.yaml')
const MILLION_IN = usageOf({ inputTokens: 1_000_000 })

function load(t: ExecutionContext, yaml: string) {
  return loadPriceOverrides(createPluginDirectory(t).put('prices.yaml', yaml))
}

async function priceOf(t: ExecutionContext, yaml: string, name: string) {
  const book = createPriceBook({ overrides: load(t, yaml), ceiling: CEILING })
  const [provider = '', model = ''] = name.split('|')
  return book.price({ provider, model }, MILLION_IN, NOVEMBER_MS)
}

for (const [why, yaml, name, usd] of [
  ['its own price', '- { model: gpt-5, input: 7, output: 8 }', 'openai|gpt-5', 7],
  ['the list price where no entry fits', '- { model: gpt-5, input: 7, output: 8 }', 'openai|gpt-5-mini', 0.25],
  [
    'an exact name before a pattern',
    '- { pattern: .*, input: 1, output: 1 }\n  - { model: a, input: 2, output: 2 }',
    'x|a',
    2,
  ],
  ['a pattern', '- { pattern: a.*, input: 1, output: 1 }', 'x|abc', 1],
  ['a pattern that must match the whole name', '- { pattern: a|b, input: 1, output: 1 }', 'x|ab', CEILING.input],
  [
    'the provider’s own before a general one',
    '- { model: a, input: 1, output: 1 }\n  - { model: a, provider: x, input: 2, output: 2 }',
    'x|a',
    2,
  ],
  [
    'an exact name before the provider’s pattern',
    '- { pattern: .*, provider: x, input: 1, output: 1 }\n  - { model: a, input: 2, output: 2 }',
    'x|a',
    2,
  ],
  ['no price of another provider', '- { model: a, provider: y, input: 1, output: 1 }', 'x|a', CEILING.input],
  ['the first of equals', '- { model: a, input: 1, output: 1 }\n  - { model: a, input: 2, output: 2 }', 'x|a', 1],
  ['a discount on the list', '- { pattern: gpt-.*, factor: 0.8 }', 'openai|gpt-5', 1],
  ['another model’s price', '- { model: our-gpt, same_as: openai/gpt-5 }', 'azure|our-gpt', 1.25],
  [
    'a price of 0 that the operator configured',
    '- { pattern: .*, provider: ollama, input: 0, output: 0 }',
    'ollama|gemma',
    0,
  ],
  [
    'the price of its size',
    '- { model: a, input: 1, output: 1, long_context: [{ above: 5, input: 3, output: 3 }] }',
    'x|a',
    3,
  ],
] as const) {
  test(`price file: gives ${why}`, async (t) => {
    t.is((await priceOf(t, `models:\n  ${yaml}`, name)).costNanoUsd, usd * 1e9)
  })
}

test('price file: the operator is the source of the price, and the entry is the match', async (t) => {
  t.like(await priceOf(t, 'models: [{ pattern: "a.*", input: 1, output: 2 }]', 'x|ab'), {
    source: 'operator',
    matched: 'a.*',
  })
  t.like(await priceOf(t, 'models: [{ model: b, same_as: openai/gpt-5 }]', 'x|b'), {
    source: 'operator',
    matched: 'openai/gpt-5',
  })
})

test('price file: an entry that only changes a ceiling leaves it a ceiling', async (t) => {
  t.like(await priceOf(t, 'models: [{ model: a, factor: 2 }]', 'x|a'), { source: 'ceiling', costNanoUsd: 30e9 })
})

test('price file: fees and factors are as written', async (t) => {
  const overrides = load(
    t,
    'models: [{ model: a, input: 1, output: 1, web_search: 4, web_fetch: 2, call: 5, factors: { priority: 3 } }]',
  )
  const book = createPriceBook({ overrides, ceiling: CEILING })
  const usage = usageOf({ inputTokens: 1000, webSearchRequests: 1, webFetchRequests: 1, serviceTier: 'priority' })
  t.is(
    book.price({ provider: 'x', model: 'a' }, usage, NOVEMBER_MS).costNanoUsd,
    3 * 1_000_000 + 4_000_000 + 2_000_000 + 5_000_000,
  )
})

for (const [yaml, says] of [
  ['models:\n  - model: a\n    inptu: 1\n', /line 3: `models\.0\.inptu`: unknown field\. Did you mean `input`\?/],
  ['modles: []\n', /line 1: `modles`: unknown field\. Did you mean `models`\?/],
  ['models:\n  - model: a\n    input: -1\n    output: 1\n', /line 3: `models\.0\.input`: .*>=0/],
  ['models:\n  - model: a\n    input: cheap\n    output: 1\n', /line 3: `models\.0\.input`: .*expected number/],
  ['models:\n  - model: a\n    input: 1\n', /line 3: `models\.0\.input`: expected `input` and `output` together/],
  ['models:\n  - factor: 1\n', /line 2: `models\.0\.model`: expected either `model` or `pattern`/],
  ['models:\n  - model: a\n  - pattern: "("\n', /line 3: `models\.1\.pattern`: expected a regular expression/],
  [
    'models:\n  - model: a\n    cache_read: 1\n',
    /line 3: `models\.0\.cache_read`: expected `input` and `output` beside it/,
  ],
  ['models:\n  - model: a\n    same_as: gpt-5\n', /line 3: `models\.0\.same_as`: expected `provider\/model`/],
  [
    'models:\n  - model: a\n    input: 1\n    output: 1\n    long_context:\n      - above: 5\n        input: 1\n        output: 1\n        cache_raed: 2\n',
    /line 9: `models\.0\.long_context\.0\.cache_raed`: unknown field\. Did you mean `cache_read`\?/,
  ],
  ['models: [\n', /not valid YAML at line \d+, column \d+/],
  ['- a\n', /line 1: ``: .*expected object/],
] as const) {
  test(`price file: refuses ${JSON.stringify(yaml)} with its position`, (t) => {
    const error = t.throws(() => load(t, yaml), { instanceOf: PriceFileError })
    t.regex(String(error?.message), says)
  })
}

test('price file: a configured file must exist', (t) => {
  t.throws(() => loadPriceOverrides('/no/such/prices.yaml'), {
    instanceOf: PriceFileError,
    message: /no\/such\/prices\.yaml/,
  })
})

test('price file: the price of an unlisted model is no price', async (t) => {
  const overrides = load(t, 'models: [{ model: a, same_as: openai/gpt-99 }]')
  t.throws(() => createPriceBook({ overrides, ceiling: CEILING }), { message: /models\.0\.same_as.*gpt-99/ })
})

test('price file: the bundled one sets nothing by default', (t) => {
  t.deepEqual(loadPriceOverrides(OWN_FILE), { models: [] })
})

test('price file: the bundled one explains every field, with valid values', (t) => {
  const uncommented = readFileSync(OWN_FILE, 'utf8').replaceAll(/^#(?! )|^#(?= {2,}(?:- )?\w+:| {4,}[-\w])/gm, '')
  const { models } = load(t, uncommented)
  t.true(models.length >= 4)
  const explained = new Set(
    [...models, ...models.flatMap(({ long_context = [] }) => long_context)].flatMap(Object.keys),
  )
  for (const path of [
    ['models', 0],
    ['models', 0, 'long_context', 0],
  ])
    for (const field of fieldsAt(path)) t.true(explained.has(field), field)
})
