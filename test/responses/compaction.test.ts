import test, { type ExecutionContext } from 'ava'
import { parseEvents } from '../support/events.ts'
import { type JsonObject, valueAt } from '../support/json.ts'
import { MODELS, openProviderFixture, type ProviderName, type ProviderScenario } from '../support/provider-fixture.ts'
import { assertResponseStream } from '../support/response-rules.ts'

const fixture = await openProviderFixture({ env: { SVC_PIPELINE: 'exact-cache,cost-guard?per_day=1000' } })
test.after.always(() => fixture.close())

const PATH = '/v1/responses'
const COMPACT_PATH = '/v1/responses/compact'
/** Providers whose models write the summary. */
const SUMMARISERS = ['anthropic', 'openai', 'gemini', 'house'] as const
const TRIGGER = { type: 'compaction_trigger' }
const PREFIX = 'turnpike-compaction:'
const TOOLS = [{ type: 'function', name: 'run', parameters: { type: 'object', properties: {} } }]

function conversation(t: ExecutionContext): JsonObject[] {
  return [
    { type: 'message', role: 'developer', content: 'Be brief.' },
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: `Build it: ${t.title}` }] },
    { type: 'function_call', call_id: 'call_1', name: 'run', arguments: '{}' },
    { type: 'function_call_output', call_id: 'call_1', output: 'was-run' },
  ]
}

function summarises(provider: ProviderName, text = 'The summary.'): ProviderScenario {
  return fixture.scenario({ [provider]: { kind: 'answer', text } })
}

/** Compacts a conversation; resolves with the compaction item. */
async function compact(
  scenario: ProviderScenario,
  model: string,
  input: JsonObject[],
  as?: string,
): Promise<JsonObject> {
  const headers = as === undefined ? {} : { authorization: `Bearer ${as}` }
  const body = { model, input: [...input, TRIGGER], tools: TOOLS, stream: true, text: { format: { type: 'text' } } }
  const reply = await scenario.send({ path: PATH, headers, body })
  const { output } = assertResponseStream(reply.body) as { output: JsonObject[] } // safe: checked by the rules
  const [item] = output
  if (item === undefined || output.length > 1) throw new Error(`Expected one item, got ${JSON.stringify(output)}`)
  return item
}

for (const provider of SUMMARISERS) {
  const model = MODELS[provider]

  test(`compaction: ${provider}: a trigger makes the model summarise, sealed in one item, and billed once`, async (t) => {
    const scenario = summarises(provider)
    const item = await compact(scenario, model, conversation(t))
    t.is(item.type, 'compaction')
    t.true(String(item.encrypted_content).startsWith(PREFIX))
    t.false(JSON.stringify(item).includes('summary.'))
    const seen = scenario.seen(provider)
    t.is(seen.length, 1)
    const sent = JSON.stringify(seen[0]?.json)
    for (const text of ['Be brief.', t.title, 'was-run', 'write a summary of this conversation'])
      t.true(sent.includes(text))
    t.false(sent.includes('compaction_trigger'))
  })

  test(`compaction: ${provider}: a sealed item that returns is the summary, in its place`, async (t) => {
    const scenario = summarises(provider, 'Line one.\nThe file is "a.ts".')
    const [developer, user, ...work] = conversation(t) as [JsonObject, JsonObject, ...JsonObject[]] // safe: four items
    const item = await compact(scenario, model, [developer, user, ...work])
    const next = { type: 'message', role: 'user', content: 'Go on.' }
    const reply = await scenario.send({ path: PATH, body: { model, input: [developer, user, item, next] } })
    t.is(reply.status, 200, reply.text)
    t.is(reply.headers['x-svc-dropped'], undefined)
    const sent = JSON.stringify(scenario.seen(provider)[1]?.json)
    t.true(sent.includes(String.raw`Line one.\nThe file is \"a.ts\".`))
    t.true(sent.indexOf(t.title) < sent.indexOf('Line one.') && sent.indexOf('Line one.') < sent.indexOf('Go on.'))
    t.false(sent.includes('was-run'))
  })

  test(`compaction: ${provider}: /responses/compact returns the items that replace a conversation`, async (t) => {
    const scenario = summarises(provider)
    const body = { model, input: conversation(t), instructions: 'Be exact.', tools: TOOLS }
    const reply = await scenario.send({ path: COMPACT_PATH, body })
    t.is(reply.status, 200, reply.text)
    t.like(reply.json, { object: 'response.compaction' })
    const output = valueAt(reply.json, 'output') as JsonObject[]
    t.deepEqual(
      output.map(({ type }) => type),
      ['message', 'compaction'],
    )
    t.true(Number(valueAt(reply.json, 'usage.output_tokens')) > 0)
    const again = await scenario.send({
      path: PATH,
      body: { model, input: [...output, { role: 'user', content: 'On.' }] },
    })
    t.is(again.status, 200, again.text)
    t.true(JSON.stringify(scenario.seen(provider)[1]?.json).includes('The summary.'))
  })
}

test('compaction: a response to the same body is another request, for caches too', async (t) => {
  const scenario = summarises('anthropic')
  const body = { model: MODELS.anthropic, input: conversation(t), tools: TOOLS }
  const response = await scenario.send({ path: PATH, body })
  const window = await scenario.send({ path: COMPACT_PATH, body })
  t.is(valueAt(response.json, 'object'), 'response')
  t.is(valueAt(window.json, 'object'), 'response.compaction')
  t.is(scenario.seen('anthropic').length, 2)
  const repeated = await scenario.send({ path: COMPACT_PATH, body })
  t.is(repeated.headers['x-svc-cache'], 'hit')
  t.is(valueAt(repeated.json, 'object'), 'response.compaction')
  t.is(scenario.seen('anthropic').length, 2)
})

test('compaction: an item of another caller, or a changed one, is refused before any call', async (t) => {
  const scenario = summarises('anthropic')
  const item = await compact(scenario, MODELS.anthropic, conversation(t), 'one')
  const sealed = String(item.encrypted_content)
  const changed = `${sealed.slice(0, -8)}${sealed.at(-8) === 'A' ? 'B' : 'A'}${sealed.slice(-7)}`
  const items = { other: sealed, one: changed, empty: PREFIX, long: `${PREFIX}${'A'.repeat(5_000_000)}` }
  for (const [as, encrypted_content] of Object.entries(items)) {
    for (const model of [MODELS.anthropic, MODELS.responder]) {
      const input = [
        { ...item, encrypted_content },
        { role: 'user', content: 'Go on.' },
      ]
      const headers = { authorization: `Bearer ${as}` }
      const reply = await scenario.send({ path: PATH, headers, body: { model, input } })
      t.is(reply.status, 400)
      t.like(reply.json, { error: { code: 'invalid_request', param: 'input[0]' } })
      t.regex(String(valueAt(reply.json, 'error.message')), /made for another key/)
    }
  }
  t.is(scenario.seen('anthropic').length, 1)
  t.is(scenario.seen('responder').length, 0)
})

test('compaction: the same bytes of another caller are refused, also after they were recognised', async (t) => {
  const scenario = summarises('anthropic')
  const item = await compact(scenario, MODELS.anthropic, conversation(t), 'one')
  const body = { model: MODELS.anthropic, input: [item, { role: 'user', content: t.title }] }
  for (const [as, status] of [
    ['one', 200],
    ['one', 200],
    ['one', 200],
    ['two', 400],
  ] as const)
    t.is((await scenario.send({ path: PATH, headers: { authorization: `Bearer ${as}` }, body })).status, status)
})

for (const [what, script] of [
  ['cut', { kind: 'answer', text: 'Half a', stopReason: 'max_tokens' }],
  ['refused', { kind: 'answer', text: 'I cannot.', stopReason: 'refusal' }],
  ['empty', { kind: 'answer', text: ' ' }],
] as const) {
  test(`compaction: a summary that is ${what} fails once, without a repetition, and replaces nothing`, async (t) => {
    const scenario = fixture.scenario({ anthropic: script })
    const body = { model: MODELS.anthropic, input: [...conversation(t), TRIGGER], tools: TOOLS }
    const streamed = await scenario.send({ path: PATH, body: { ...body, stream: true } })
    t.like(assertResponseStream(streamed.body), { status: 'failed', output: [], error: { code: 'invalid_prompt' } })
    for (const path of [PATH, COMPACT_PATH]) {
      const reply = await scenario.send({
        path,
        body: { ...body, input: [...conversation(t), { role: 'user', content: path }, TRIGGER] },
      })
      t.is(reply.status, 400)
      t.like(reply.json, { error: { code: 'invalid_prompt' } })
    }
    t.is(scenario.seen('anthropic').length, 3)
  })
}

test('compaction: a provider that compacts gets the request byte for byte', async (t) => {
  const scenario = fixture.scenario()
  const text = (input: JsonObject[]) => `{"model": "gpt-5.2", "input":${JSON.stringify(input)},  "store":false}`
  const items = conversation(t)
  const window = text(items)
  const headers = { 'x-svc-pipe': 'none' }
  const named = (json: string) => json.replace('gpt-5.2', MODELS.responder)
  const reply = await scenario.send({ path: COMPACT_PATH, headers, body: named(window) })
  t.like(reply.json, { object: 'response.compaction', output: [{ type: 'compaction' }] })
  const own = valueAt(reply.json, 'output.0') as JsonObject
  const triggered = text([...items, TRIGGER])
  const response = await scenario.send({ path: PATH, headers, body: named(triggered) })
  t.like(response.json, { object: 'response', output: [{ type: 'compaction' }] })
  const going = text([own, { role: 'user', content: 'Go on.' }])
  t.is((await scenario.send({ path: PATH, headers, body: named(going) })).status, 200)
  const seen = scenario.seen('responder')
  t.deepEqual(
    seen.map(({ raw }) => raw.toString()),
    [window, triggered, going],
  )
  t.deepEqual(
    seen.map(({ url }) => url),
    [COMPACT_PATH, PATH, PATH],
  )
})

test('compaction: a provider that compacts gets what plugins edit, the trigger last, and no limit where it takes none', async (t) => {
  const scenario = fixture.scenario()
  const headers = { 'x-svc-pipe': 'compress,cost-guard?per_day=1000' }
  const items = conversation(t)
  const long = { type: 'function_call_output', call_id: 'call_1', output: 'line of output\n'.repeat(5000) }
  const input = [...items.slice(0, -1), long]
  const body = { model: MODELS.responder, tools: TOOLS }
  const window = await scenario.send({ path: COMPACT_PATH, headers, body: { ...body, input } })
  t.is(window.status, 200, window.text)
  const item = await scenario.send({ path: PATH, headers, body: { ...body, input: [...input, TRIGGER] } })
  t.is(item.status, 200, item.text)
  const [first, second] = scenario.seen('responder').map(({ json }) => json)
  t.deepEqual(Object.keys(first ?? {}).sort(), ['input', 'model', 'tools'])
  t.true(JSON.stringify(first).length < JSON.stringify(input).length / 2)
  t.false(JSON.stringify([first, second]).includes('write a summary of this conversation'))
  const sent = (second?.input ?? []) as JsonObject[]
  t.deepEqual(sent.at(-1), TRIGGER)
})

test('compaction: where a cap lowers the limit, which the path does not take, the model summarises within it', async (t) => {
  const scenario = fixture.scenario({ responder: { kind: 'answer', text: 'The summary.' } })
  const headers = { authorization: 'Bearer nearly-spent', 'x-svc-pipe': 'cost-guard?per_day=0.02' }
  const body = { model: MODELS.responder, input: conversation(t), tools: TOOLS }
  const reply = await scenario.send({ path: COMPACT_PATH, headers, body })
  t.is(reply.status, 200, reply.text)
  const item = (valueAt(reply.json, 'output') as JsonObject[]).at(-1)
  t.true(String(item?.encrypted_content).startsWith(PREFIX))
  const [seen] = scenario.seen('responder')
  t.is(seen?.url, PATH)
  const limit = Number(seen?.json?.max_output_tokens)
  t.true(limit >= 64 && limit < 4096, String(limit))
})

for (const [path, refusal] of [
  [COMPACT_PATH, { kind: 'error', status: 404, message: 'Not found' }],
  [PATH, { kind: 'error', status: 400, message: "Unknown item type 'compaction_trigger'" }],
] as const) {
  test(`compaction: where a Responses provider has none at ${path}, its model summarises`, async (t) => {
    const scenario = fixture.scenario({
      responder: (nth) => (nth === 1 ? refusal : { kind: 'answer', text: 'The summary.' }),
    })
    const input = path === PATH ? [...conversation(t), TRIGGER] : conversation(t)
    const reply = await scenario.send({ path, body: { model: MODELS.responder, input, tools: TOOLS } })
    t.is(reply.status, 200, reply.text)
    const item = (valueAt(reply.json, 'output') as JsonObject[]).at(-1)
    t.true(String(item?.encrypted_content).startsWith(PREFIX))
    t.is(scenario.seen('responder').length, 2)
    t.true(JSON.stringify(scenario.seen('responder')[1]?.json).includes('write a summary of this conversation'))
  })
}

test('compaction: after a switch of models the new one reads the summary, a foreign item is refused by name', async (t) => {
  const scenario = summarises('anthropic')
  const item = await compact(scenario, MODELS.anthropic, conversation(t))
  for (const provider of ['responder', 'openai', 'gemini'] as const) {
    const input = [item, { role: 'user', content: `Go on, ${provider}.` }]
    const reply = await scenario.send({ path: PATH, body: { model: MODELS[provider], input } })
    t.is(reply.status, 200, reply.text)
    t.true(JSON.stringify(scenario.seen(provider)[0]?.json).includes('The summary.'))
  }
  const foreign = { type: 'compaction', id: 'cmp_1', encrypted_content: 'gAAAAAB' }
  const input = [foreign, { role: 'user', content: 'Go on.' }]
  const reply = await scenario.send({ path: PATH, body: { model: MODELS.anthropic, input } })
  t.is(reply.status, 400)
  t.regex(String(valueAt(reply.json, 'error.message')), /input\[0\]: it was encrypted by another provider/)
})

test('compaction: a second one contains the first', async (t) => {
  const scenario = summarises('anthropic', 'Summary one.')
  const first = await compact(scenario, MODELS.anthropic, conversation(t))
  await compact(scenario, MODELS.anthropic, [first, { type: 'message', role: 'user', content: 'More.' }])
  const sent = JSON.stringify(scenario.seen('anthropic')[1]?.json)
  t.true(sent.includes('Summary one.') && sent.includes('write a summary of this conversation'))
})

test('compaction: a stream of /responses/compact and a trigger elsewhere are refused', async (t) => {
  const scenario = fixture.scenario()
  const { anthropic: model } = MODELS
  const streamed = await scenario.send({ path: COMPACT_PATH, body: { model, input: 'x', stream: true } })
  t.is(streamed.status, 400)
  t.like(streamed.json, { error: { param: 'stream' } })
  const early = await scenario.send({ path: PATH, body: { model, input: [TRIGGER, { role: 'user', content: 'x' }] } })
  t.is(early.status, 400)
  t.regex(early.text, /input\[0\]: expected it as the last item/)
  const nameless = await scenario.send({ path: COMPACT_PATH, body: { input: 'x' } })
  t.is(nameless.status, 400)
  t.is(scenario.seen('anthropic').length, 0)
})

test('compaction: the stream is one item, begun and done', async (t) => {
  const scenario = summarises('anthropic')
  const body = { model: MODELS.anthropic, input: [...conversation(t), TRIGGER], stream: true }
  const events = parseEvents((await scenario.send({ path: PATH, body })).body).map(({ event }) => event)
  t.deepEqual(events.slice(0, -1), [
    'response.created',
    'response.in_progress',
    'response.output_item.added',
    'response.output_item.done',
    'response.completed',
  ])
})

test('compaction: /responses/compact of another caller’s response is refused', async (t) => {
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
  const stored = { id: 'resp_stored', object: 'response', status: 'completed', store: true, output: [], usage }
  const scenario = fixture.scenario({
    responder: (nth) => (nth === 1 ? { kind: 'reply', body: stored } : { kind: 'answer' }),
  })
  const headers = (as: string) => ({ authorization: `Bearer ${as}`, 'x-svc-pipe': 'none' })
  const body = { model: MODELS.responder, input: t.title }
  const made = await scenario.send({ path: PATH, headers: headers('one'), body })
  const continued = { ...body, previous_response_id: valueAt(made.json, 'id') }
  t.is((await scenario.send({ path: COMPACT_PATH, headers: headers('two'), body: continued })).status, 404)
  t.is((await scenario.send({ path: COMPACT_PATH, headers: headers('one'), body: continued })).status, 200)
})
