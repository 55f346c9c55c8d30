import test from 'ava'
import { chat } from '../support/chat-bodies.ts'
import { linesOf, logLineOf, sendChat } from '../support/door.ts'
import { eventually } from '../support/eventually.ts'
import { ask } from '../support/http-client.ts'
import { type JsonObject, valueAt } from '../support/json.ts'
import { MODELS, openProviderFixture, type ProviderName, type ProviderScenario } from '../support/provider-fixture.ts'
import { toolCatalogue, toTool } from '../support/tool-catalogue.ts'

const fixture = await openProviderFixture({ env: { SVC_PIPELINE: 'prune-tools' }, config: { providers: { tries: 1 } } })
test.after.always(() => fixture.close())

const TEXT = 'Will it rain tomorrow? I need the forecast.'
const withTools = (extra: JsonObject = {}) => ask(TEXT, { model: MODELS.anthropic, tools: toolCatalogue(), ...extra })
const inMode = (mode: string) => ({ 'x-svc-pipe': `prune-tools?mode=${mode}` })

/** Returns the body of the last request to a provider. */
function sent(scenario: ProviderScenario, provider: ProviderName = 'anthropic') {
  const { raw, json } = scenario.seen(provider).at(-1) ?? {}
  return { raw: raw?.toString() ?? '', tools: (json?.tools ?? []) as JsonObject[] }
}

test('prune-tools: the provider gets shorter tools, and every other byte as the client wrote it', async (t) => {
  const scenario = fixture.scenario()
  const before = {
    user: `{"role": "user", "content": "${TEXT} \\u00e9"}`,
    odd: '"x_odd": [1.0, 9007199254740993, {"10": 1e5, "2": 0}]',
  }
  const tools = toolCatalogue().map((tool) => JSON.stringify(tool).replace('"minimum":1', '"minimum": 1.0'))
  const marked = JSON.stringify(toTool('mcp__odd__last', 'Odd.', { cache_control: { type: 'ephemeral' } }))
  const body = `{"model":"claude-sonnet-4-5","max_tokens":100, "tools": [\n${[...tools, marked].join(',\n')}], "messages":[${before.user}], ${before.odd}}`
  const reply = await scenario.send({ body })
  t.is(reply.status, 200, reply.text)
  const { raw, tools: after } = sent(scenario)
  t.true(raw.length < 0.7 * body.length)
  t.deepEqual(
    after.map(({ name }) => name),
    [...toolCatalogue().map(({ name }) => name), 'mcp__odd__last'],
  )
  const [start = '', ...lines] = raw.split('\n')
  t.true(body.startsWith(`${start}\n`))
  t.true(lines.at(-1)?.startsWith(marked))
  t.true(raw.endsWith(body.slice(body.indexOf(', "messages"'))))
  t.is(raw.match(/"minimum": 1\.0/g)?.length, tools.length)
})

test('prune-tools: the result is in a header and in the log', async (t) => {
  const reply = await fixture.scenario().send({ body: withTools() })
  const header = String(reply.headers['x-svc-prune'])
  t.regex(header, /^kept=6; slimmed=34; deferred=0; dropped=0; grown=0; tokens=\d+->\d+$/)
  const line = await logLineOf(fixture.gateway, reply)
  t.true(JSON.stringify(line).includes('prune-tools:pruned'), JSON.stringify(line))
})

test('prune-tools: a request with few tools is sent as it came', async (t) => {
  const scenario = fixture.scenario()
  const body = JSON.stringify(withTools({ tools: toolCatalogue().slice(0, 20) }))
  const reply = await scenario.send({ body })
  t.is(sent(scenario).raw, body.replace(MODELS.anthropic, 'claude-sonnet-4-5'))
  t.is(reply.headers['x-svc-prune'], undefined)
})

test('prune-tools: off is off', async (t) => {
  const scenario = fixture.scenario()
  await scenario.send({ body: withTools(), headers: inMode('off') })
  t.deepEqual(sent(scenario).tools, toolCatalogue())
})

test('prune-tools: drop leaves out servers that the request has nothing to do with', async (t) => {
  const scenario = fixture.scenario()
  const text = 'Book a flight and a hotel, and check the weather forecast there.'
  const reply = await scenario.send({
    body: { ...withTools(), messages: [{ role: 'user', content: text }] },
    headers: inMode('drop'),
  })
  t.is(reply.status, 200, reply.text)
  const names = sent(scenario).tools.map(({ name }) => String(name))
  t.true(names.includes('mcp__travel__book_flight'))
  t.true(names.length < toolCatalogue().length)
})

test('prune-tools: defer goes to the provider that has tool search, and is slim elsewhere', async (t) => {
  const scenario = fixture.scenario()
  t.is((await scenario.send({ body: withTools(), headers: inMode('defer') })).status, 200)
  t.is(sent(scenario).tools[0]?.name, 'tool_search_tool_bm25')
  t.is(sent(scenario).tools.filter(({ defer_loading: deferred }) => deferred).length, 34)
  const elsewhere = await scenario.send({ body: withTools({ model: MODELS.openai }), headers: inMode('defer') })
  t.regex(String(elsewhere.headers['x-svc-prune']), /slimmed=34; deferred=0/)
})

for (const model of ['house', 'anthropic'] as const) {
  test(`prune-tools: a chat client’s tools are pruned as well (${model})`, async (t) => {
    const scenario = fixture.scenario()
    const tools = toolCatalogue().map(({ name, description, input_schema }) => ({
      type: 'function',
      function: { name, description, parameters: input_schema },
    }))
    const reply = await sendChat(scenario, chat(TEXT, { model: MODELS[model], tools }))
    t.is(reply.status, 200, reply.text)
    const { raw, tools: after } = sent(scenario, model)
    t.is(after.length, tools.length)
    t.true(raw.length < 0.7 * JSON.stringify(tools).length, raw.slice(0, 2000))
  })
}

test('prune-tools: the provider finds every call of a session to begin as the last one did', async (t) => {
  const scenario = fixture.scenario({
    anthropic: (nth) => ({
      kind: 'answer',
      content: [{ type: 'tool_use', id: `toolu_${nth}`, name: toolCatalogue()[nth * 5]?.name, input: {} }],
      stopReason: 'tool_use',
    }),
  })
  const messages: JsonObject[] = [{ role: 'user', content: TEXT }]
  const lists: string[] = []
  for (let turn = 1; turn <= 5; turn++) {
    const reply = await scenario.send({ body: { ...withTools(), messages } })
    lists.push(JSON.stringify(sent(scenario).tools))
    const content = valueAt(reply.json, 'content') as JsonObject[]
    messages.push({ role: 'assistant', content })
    messages.push({ role: 'user', content: [{ type: 'tool_result', tool_use_id: content[0]?.id, content: 'sunny' }] })
    messages.push({ role: 'user', content: 'Now create an invoice, and call mcp__garden__soil_moisture.' })
  }
  t.is(lists.length, 5)
  t.is(new Set(lists).size, 1)
})

for (const stream of [false, true]) {
  test(`prune-tools: a call of a tool that was dropped is passed on and logged (stream: ${stream})`, async (t) => {
    const text = 'Book a flight and a hotel, and check the weather forecast there.'
    const probe = fixture.scenario()
    const body = { ...withTools({ stream }), messages: [{ role: 'user', content: text }] }
    await probe.send({ body, headers: inMode('drop') })
    const kept = new Set(sent(probe).tools.map(({ name }) => name))
    const name = toolCatalogue().find((tool) => !kept.has(tool.name))?.name
    t.truthy(name)
    const content = [{ type: 'tool_use', id: 'toolu_1', name, input: {} }]
    const scenario = fixture.scenario({ anthropic: { kind: 'answer', content, stopReason: 'tool_use' } })
    const reply = await scenario.send({ body, headers: inMode('drop') })
    t.true(reply.text.includes(String(name)))
    const id = reply.headers['x-svc-receipt'] ?? reply.headers['request-id']
    const isTold = () =>
      linesOf(fixture.gateway).some((line) => line.msg === 'prune-tools.missed' && line.tool === name)
    await eventually(isTold, `a line about ${id}`)
  })
}

test('prune-tools: an option with a wrong value is refused, and the error names the expected one', async (t) => {
  const reply = await fixture.scenario().send({ body: withTools(), headers: inMode('slimmer') })
  t.is(reply.status, 400)
  t.regex(reply.text, /slim.*defer.*drop/)
})
