import test, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import { RequestDocument } from 'turnpike/plugin'
import type { JsonObject } from '../../test/support/json.ts'
import { toolCatalogue, toTool } from '../../test/support/tool-catalogue.ts'
import { type Plan, planFor, type Terms } from './plan.ts'
import { ToolLists } from './tool-list.ts'
import { loadVectors } from './words/vectors.ts'

const lists = new ToolLists({
  vectors: loadVectors(),
  isAlwaysIncluded: ({ namespace }) => namespace === 'filesystem',
  maxBytes: 128 * 1024 * 1024,
})
const TERMS: Terms = { mode: 'slim', keep: 3, growth: 'namespace', minTools: 30, minTokens: 8000 }

const documentOf = (body: JsonObject) => new RequestDocument(Buffer.from(JSON.stringify({ messages: [], ...body })))
const user = (content: unknown) => ({ role: 'user', content })
const calls = (name: string) => ({ role: 'assistant', content: [{ type: 'tool_use', id: 't', name, input: {} }] })
const result = () => user([{ type: 'tool_result', tool_use_id: 't', content: 'done' }])

/** Returns the plan for a body with forty tools, and the resulting tools. */
function prune(body: JsonObject, terms: Partial<Terms> = {}): Plan & { tools: JsonObject[] } {
  const document = documentOf({ tools: toolCatalogue(), ...body })
  const plan = planFor(document, lists, { ...TERMS, ...terms })
  if (typeof plan === 'string') throw new Error(`Expected a plan, got ${plan}`)
  return { ...plan, tools: document.edited(plan.edits).field('tools') as JsonObject[] }
}

/** Returns the fate of a tool of the catalogue. */
function fateOf(name: string, { fates, names }: Plan): string | undefined {
  return fates[names.indexOf(name)]
}

const FORECAST = { messages: [user('Will it rain tomorrow? I need the forecast.')] }

test('plan: the nearest tools remain whole, the others lose their prose', (t) => {
  const { fates, tools, ...plan } = prune(FORECAST)
  t.is(fateOf('mcp__weather__get_forecast', { fates, ...plan }), 'keep')
  t.is(fates.filter((fate) => fate === 'slim').length, 37)
  t.deepEqual(
    tools.map(({ name }) => name),
    toolCatalogue().map(({ name }) => name),
  )
  t.true(plan.tokensAfter < 0.6 * plan.tokensBefore)
})

test('plan: tools are found by meaning, without their names', (t) => {
  const nearest = (text: string) => prune({ messages: [user(text)] })
  t.is(fateOf('mcp__clinic__list_prescriptions', nearest('Which drugs does she have to take?')), 'keep')
  t.is(fateOf('mcp__ledger__profit_report', nearest('How much money did we make?')), 'keep')
})

const odd: [claim: string, tool: JsonObject][] = [
  ['a tool of the provider', { type: 'web_search_20250305', name: 'web_search', max_uses: 3 }],
  ['a tool that is marked for caching', toTool('mcp__garden__x', 'Odd.', { cache_control: { type: 'ephemeral' } })],
  ['a tool of the agent itself', toTool('Bash', 'Run a command.')],
  ['a tool that is always included', toTool('mcp__filesystem__read', 'Read a file.')],
  ['a tool that the system names', toTool('mcp__garden__named_by_system', 'Odd.')],
  ['a tool that the first message names', toTool('mcp__garden__named_by_user', 'Odd.')],
  ['a tool that is forced', toTool('mcp__garden__forced', 'Odd.')],
]
for (const [claim, tool] of odd) {
  for (const mode of ['slim', 'drop', 'defer'] as const) {
    test(`plan: ${claim} is unchanged in ${mode}`, (t) => {
      const body = {
        tools: [...toolCatalogue(), tool],
        system: 'When in doubt, call named_by_system.',
        messages: [user('Will it rain? If so, use mcp__garden__named_by_user.')],
        tool_choice: { type: 'tool', name: tool.name },
      }
      const free = claim.endsWith('forced') ? {} : { tool_choice: { type: 'auto' } }
      t.deepEqual(prune({ ...body, ...free }, { mode }).tools.at(-1), tool)
    })
  }
}

test('plan: a strict schema is not slimmed', (t) => {
  const strict = toTool('mcp__garden__strict', 'Odd.', { strict: true })
  t.deepEqual(prune({ ...FORECAST, tools: [...toolCatalogue(), strict] }).tools.at(-1), strict)
})

test('plan: a tool with a duplicate name is unchanged', (t) => {
  const twice = '{"name":"mcp__garden__twice","input_schema":{"title":"a","title":"b"}}'
  const raw = `{"tools":[${JSON.stringify(toolCatalogue()).slice(1, -1)},${twice}],"messages":[${JSON.stringify(user('rain'))}]}`
  const document = new RequestDocument(Buffer.from(raw))
  const plan = planFor(document, lists, TERMS)
  t.true(typeof plan !== 'string' && document.edited(plan.edits).bytes.includes(twice))
})

test('plan: drop removes servers with the lowest scores, and keeps the rest slim', (t) => {
  const plan = prune(
    { messages: [user('Book a flight and a hotel, and check the weather forecast there.')] },
    { mode: 'drop' },
  )
  t.is(fateOf('mcp__travel__book_flight', plan), 'keep')
  t.is(fateOf('mcp__travel__get_visa_rules', plan), 'slim')
  t.true(plan.fates.includes('drop'))
  t.is(plan.tools.length, plan.fates.filter((fate) => fate !== 'drop').length)
})

test('plan: drop removes nothing when the first message has no text, or a call is required', (t) => {
  const none = (body: JsonObject) => t.false(prune(body, { mode: 'drop' }).fates.includes('drop'))
  none({ messages: [user('Hi!')] })
  none({ messages: [user([{ type: 'image', source: { type: 'url', url: 'https://x.test/a.png' } }])] })
  none({ ...FORECAST, tool_choice: { type: 'any' } })
})

test('plan: drop removes nothing where names have no servers', (t) => {
  const tools = toolCatalogue().map((tool) => ({ ...tool, name: String(tool.name).replace(/^mcp__(.*?)__/, '$1_') }))
  const { fates } = prune({ ...FORECAST, tools }, { mode: 'drop' })
  t.is(fates.filter((fate) => fate === 'slim').length, 37)
})

/** Returns a conversation about travel for which some server was dropped, and the name of a dropped tool. */
function dropped(t: ExecutionContext): { messages: JsonObject[]; name: string } {
  const messages = [user('Book a flight and a hotel, and check the weather forecast there.')]
  const plan = prune({ messages }, { mode: 'drop' })
  const name = plan.names.find((each) => fateOf(each, plan) === 'drop')
  t.truthy(name)
  return { messages, name: name ?? '' }
}

test('plan: a dropped tool that is called or named later is restored whole', (t) => {
  const { messages, name } = dropped(t)
  const later = (...more: JsonObject[]) => fateOf(name, prune({ messages: [...messages, ...more] }, { mode: 'drop' }))
  t.is(later(calls(name), result()), 'keep')
  t.is(later(user(`Now call ${name}.`)), 'keep')
  t.is(later({ role: 'assistant', content: `I could call ${name}.` }), 'drop')
})

test('plan: a later turn that clearly concerns a dropped server restores it, if allowed', (t) => {
  const { messages, name } = dropped(t)
  const [server = ''] = name.match(/(?<=__).*(?=__)/) ?? []
  const tools = toolCatalogue().filter((tool) => String(tool.name).includes(`__${server}__`))
  const text = tools.map(({ description }) => String(description).split('.')[0]).join(' ')
  const body = { messages: [...messages, { role: 'assistant', content: 'Booked.' }, user(text)] }
  const { grown, fresh } = prune(body, { mode: 'drop' })
  t.deepEqual([grown, fresh], [[server], [server]])
  const later = { messages: [...body.messages, { role: 'assistant', content: 'Done.' }, user('Thanks.')] }
  t.deepEqual([prune(later, { mode: 'drop' }).grown, prune(later, { mode: 'drop' }).fresh], [[server], []])
  t.deepEqual(prune(body, { mode: 'drop', growth: 'never' }).grown, [])
})

test('plan: defer marks the others, and adds the provider’s search in front', (t) => {
  const { tools } = prune(FORECAST, { mode: 'defer' })
  t.deepEqual(tools[0], { type: 'tool_search_tool_bm25_20251119', name: 'tool_search_tool_bm25' })
  t.is(tools.filter(({ defer_loading: deferred }) => deferred === true).length, 37)
})

for (const [reason, body] of [
  ['29 tools: nothing to prune', { tools: toolCatalogue().slice(0, 29) }],
  ['398 tokens of tools: nothing to prune', { tools: toolCatalogue().map(({ name }) => ({ name })) }],
  ['no tools', {}],
  [
    'tools are loaded on demand already',
    { tools: [...toolCatalogue(), { type: 'tool_search_tool_regex_20251119', name: 's' }] },
  ],
  [
    'tools are loaded on demand already',
    { tools: [...toolCatalogue(), { type: 'mcp_toolset', mcp_server_name: 's' }] },
  ],
  ['tools are loaded on demand already', { tools: [...toolCatalogue(), { name: 'ToolSearch' }] }],
  ['tools are loaded on demand already', { tools: toolCatalogue().map((tool) => ({ ...tool, defer_loading: true })) }],
] as const) {
  test(`plan: does nothing (${reason}): ${JSON.stringify(body).slice(-60)}`, (t) => {
    t.is(planFor(documentOf({ ...FORECAST, ...body }), lists, TERMS), reason)
  })
}

const TOPICS = toolCatalogue().map(({ description }) => String(description).split('.')[0] ?? '')
const NAMES = toolCatalogue().map(({ name }) => String(name))
const anyStep = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...TOPICS).map((text) => [user(text)]) },
  { weight: 2, arbitrary: fc.constantFrom(...NAMES).map((name) => [calls(name), result()]) },
  fc.constantFrom(...NAMES).map((name) => [user(`Please use ${name}`)]),
  fc.lorem().map((text) => [{ role: 'assistant', content: text }]),
  fc.string().map((text) => [user(text)]),
)

test('plan: slim and defer send the same tools throughout a conversation', (t) => {
  let different = 0
  const firsts = new Set<string>()
  fc.assert(
    fc.property(fc.array(anyStep, { minLength: 2, maxLength: 8 }), fc.constantFrom('slim', 'defer'), (steps, mode) => {
      const sent = steps.map((_, i) =>
        JSON.stringify(prune({ messages: steps.slice(0, i + 1).flat() }, { mode }).tools),
      )
      firsts.add(sent[0] ?? '')
      if (new Set(sent).size > 1) different++
      return different === 0
    }),
    { numRuns: 60 },
  )
  t.true(firsts.size > 10, `${firsts.size}`)
})

test('plan: in drop a conversation keeps every tool in its form and order', (t) => {
  const seen = { grown: 0, pinned: 0, same: 0 }
  fc.assert(
    fc.property(fc.array(anyStep, { minLength: 2, maxLength: 8 }), (steps) => {
      let before: string[] = []
      for (let i = 1; i <= steps.length; i++) {
        const plan = prune({ messages: steps.slice(0, i).flat() }, { mode: 'drop' })
        const after = plan.tools.map((tool) => JSON.stringify(tool))
        const kept = new Set(before)
        if (after.filter((tool) => kept.has(tool)).join() !== before.join()) return false
        if (i > 1)
          seen[after.length === before.length ? 'same' : NAMES.includes(plan.grown.at(-1) ?? '') ? 'pinned' : 'grown']++
        before = after
      }
      return true
    }),
    { numRuns: 200 },
  )
  t.true(seen.grown > 3 && seen.pinned > 3 && seen.same > 100, JSON.stringify(seen))
})

test('plan: a request grows by the search tool at most, and kept tools keep their bytes', (t) => {
  let edited = 0
  const anyTools = fc.shuffledSubarray(toolCatalogue(), { minLength: 30 })
  fc.assert(
    fc.property(anyTools, anyStep, fc.constantFrom('slim', 'drop'), (tools, step, mode) => {
      const document = documentOf({ tools, messages: step, big: 1 })
      const plan = planFor(document, lists, { ...TERMS, mode, minTokens: 0 })
      if (typeof plan === 'string') return false
      const after = document.edited(plan.edits)
      if (plan.edits.length > 0) edited++
      const sent = new Set((after.field('tools') as unknown[]).map((tool) => JSON.stringify(tool)))
      const isKept = plan.fates.every((fate, i) => fate !== 'keep' || sent.has(JSON.stringify(tools[i])))
      return (
        isKept &&
        after.bytes.length <= document.bytes.length &&
        after.raw('messages')?.equals(document.raw('messages')!)
      )
    }),
    { numRuns: 100 },
  )
  t.true(edited > 90, `${edited}`)
})

const LONG = 500_000
/** // Time limit for a busy machine; quadratic work would take minutes. */
const MOST_MS = 20_000
const RUNS = ['<system-reminder>', 'A', 'a', '\n', '-', '/a', '. ', '"', '天'].map((part) =>
  part.repeat(LONG / part.length),
)
const wide = (names: number) => Object.fromEntries(Array.from({ length: names }, (_, i) => [`p${i}`, { title: 'T' }]))
const PATHOLOGICAL: [claim: string, tool: JsonObject][] = [
  ['3,000 parameters', { input_schema: { type: 'object', properties: wide(3000) } }],
  ['an enumeration of 200,000', { input_schema: { properties: { a: { enum: new Array(200_000).fill('x') } } } }],
  ['a schema 200 deep', { input_schema: JSON.parse(`${'{"items":'.repeat(200)}{}${'}'.repeat(200)}`) }],
]

for (const text of RUNS) {
  test(`plan: half a megabyte of ${JSON.stringify(text.slice(0, 10))} is scanned once`, (t) => {
    const startMs = performance.now()
    const tools = [...toolCatalogue(), toTool('mcp__odd__long', text), toTool(`mcp__odd__${text}`, '')]
    prune({ tools, system: text, messages: [user(text), user(text)] }, { mode: 'drop' })
    t.true(performance.now() - startMs < MOST_MS, `${performance.now() - startMs} ms`)
  })
}

for (const [claim, odd] of PATHOLOGICAL) {
  test(`plan: a tool with ${claim} is fast`, (t) => {
    const startMs = performance.now()
    const { tools } = prune({ ...FORECAST, tools: [...toolCatalogue(), { name: 'mcp__odd__x', ...odd }] })
    t.is(tools.length, 41)
    t.true(performance.now() - startMs < MOST_MS, `${performance.now() - startMs} ms`)
  })
}

const many = (count: number) => Array.from({ length: count }, (_, i) => toTool(`mcp__s${i % 50}__tool_${i}`, 'Odd.'))

test('plan: 2,000 tools are planned quickly, and more are left unchanged', (t) => {
  const startMs = performance.now()
  t.is(prune({ ...FORECAST, tools: many(2000) }).tools.length, 2000)
  t.is(planFor(documentOf({ ...FORECAST, tools: many(2001) }), lists, TERMS), 'too many tools, or too large ones')
  t.is(
    planFor(documentOf({ ...FORECAST, tools: [toTool('a', 'x'.repeat(5_000_000))] }), lists, TERMS),
    'too many tools, or too large ones',
  )
  t.true(performance.now() - startMs < MOST_MS, `${performance.now() - startMs} ms`)
})
