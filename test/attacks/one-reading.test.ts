import test from 'ava'
import { AGENT, openAgentFixture } from '../payments/agent-fixture.ts'
import { openFixture } from '../support/fixture.ts'
import { valueAt } from '../support/json.ts'
import { FULL_PIPELINE } from '../support/pipelines.ts'

/*
 * Bodies that two readers could understand differently: the gateway's checks, prices and caps would be about another
 * request than the provider's answer. Each is refused on every route, small and large, and its place is named.
 */

const agentFixture = await openAgentFixture()
test.after.always(() => agentFixture.close())

const MODEL = '"model":"claude-sonnet-4-5","max_tokens":9'
const HELLO = '{"role":"user","content":"hi"}'
const PADDING = `"padding":"${'x'.repeat(9000)}"`
const headers = { 'x-api-key': 'k' }
const ROUTES = ['/v1/messages', '/v1/messages/count_tokens', '/v1/chat/completions', AGENT, '/v1/agent/quote']
/** Those whose bodies have the Messages shape. */
const MESSAGES_ROUTES = ROUTES.filter((path) => !path.includes('chat'))

const body = (message: string, fields = MODEL) => `{${fields},"messages":[${message}]}`
const user = (content: string) => body(`${HELLO},{"role":"user","content":[${content}]}`)
const tools = (tool: string) => body(HELLO, `${MODEL},"tools":[${tool}]`)

const AMBIGUOUS: Record<string, [body: string, place: string]> = {
  'two models': [body(HELLO, `${MODEL},"model":"claude-opus-4-5"`), 'model'],
  'two models, one escaped': [body(HELLO, `${MODEL},"mod\\u0065l":"claude-opus-4-5"`), 'model'],
  'two contents of a message': [body('{"role":"user","content":"a","content":"b"}'), 'messages[0].content'],
  'two contents, the first escaped': [body('{"role":"user","c\\u006fntent":"a","content":"b"}'), 'messages[0].content'],
  'two types of a block': [user('{"type":"thinking","text":"a","type":"text"}'), 'messages[1].content[0].type'],
  'two sources': [
    user('{"type":"image","source":{"type":"url","url":"https://a/b"},"source":{}}'),
    'messages[1].content[0].source',
  ],
  'two data of a source': [
    user('{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk=","data":"aGk="}}'),
    'messages[1].content[0].source.data',
  ],
  'two members of an unknown block': [
    user('{"type":"novel","inner":{"a":{"b":1,"b":2}}}'),
    'messages[1].content[0].inner.a.b',
  ],
  'two types of a tool': [tools('{"type":"custom","name":"a","type":"web_search_20250305"}'), 'tools[0].type'],
  'two values of defer_loading': [
    tools('{"name":"a","input_schema":{},"defer_loading":true,"defer_loading":false}'),
    'tools[0].defer_loading',
  ],
  'a model in another case': [body(HELLO, `${MODEL},"Model":"claude-opus-4-5"`), 'Model'],
  'only a model in another case': [body(HELLO, '"MODEL":"claude-opus-4-5","max_tokens":9'), 'MODEL'],
  'a limit in another case': [body(HELLO, `${MODEL},"MAX_TOKENS":100000`), 'MAX_TOKENS'],
  'a long s': [body(HELLO, `${MODEL},"me\u017fsages":[]`), 'me\u017fsages'],
  'a Kelvin sign': [body(HELLO, `${MODEL},"max_to\u212aens":100000`), 'max_to\u212aens'],
  'a content in another case': [body('{"role":"user","content":"a","Content":"a long text"}'), 'messages[0].Content'],
  'a type of a tool in another case': [
    tools('{"type":"custom","Type":"web_search_20250305","name":"a"}'),
    'tools[0].Type',
  ],
  'a fallback in another case': [
    body(HELLO, `${MODEL},"fallbacks":[{"Model":"claude-opus-4-5"}]`),
    'fallbacks[0].Model',
  ],
  'an infinite number': [
    body(HELLO, `${MODEL},"thinking":{"type":"enabled","budget_tokens":1e400}`),
    'thinking.budget_tokens',
  ],
  'a blank model': [body(HELLO, '"model":" \\t\u00a0","max_tokens":9'), 'model'],
  'an empty model': [body(HELLO, '"model":"","max_tokens":9'), 'model'],
}

for (const [what, [small, place]] of Object.entries(AMBIGUOUS))
  test(`one reading: ${what} is 400 on every route, small and large`, async (t) => {
    const agent = agentFixture.agent()
    for (const text of [small, small.replace('{', `{${PADDING},`)])
      for (const path of ROUTES) {
        const reply = await agent.send({ path, body: text, headers })
        t.is(reply.status, 400, `${path} ${text.length}: ${reply.status} ${reply.text.slice(0, 200)}`)
        t.is(valueAt(reply.json, 'error.type'), 'invalid_request')
        const message = String(valueAt(reply.json, 'error.message'))
        t.true(message.startsWith(place) || message.startsWith(`[${JSON.stringify(place)}]`), message)
      }
    t.is(agent.calls(), 0)
  })

const DUPLICATES = '{"path":"a","path":{"b":1,"b":2},"Type":"x","Model":"y"}'
const INNOCENT: Record<string, string> = {
  'an input of a call': body(
    `${HELLO},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"a","input":${DUPLICATES}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"ok"}]}`,
    `${MODEL},"tools":[{"name":"a","input_schema":{"type":"object"}}]`,
  ),
  'the schema of a tool': tools(`{"name":"a","input_schema":{"type":"object","properties":${DUPLICATES}}}`),
  'a message whose names have escapes': body('{"r\\u006fle":"user","c\\u006fntent":"hi"}'),
  labels: body(HELLO, `${MODEL},"metadata":{"user_id":"u","Model":"x"}`),
}
for (const [what, small] of Object.entries(INNOCENT))
  test(`one reading: ${what} keeps its names, and goes out byte for byte`, async (t) => {
    const agent = agentFixture.agent()
    for (const text of [small, small.replace('{', `{${PADDING},`)])
      for (const path of MESSAGES_ROUTES) {
        const reply = await agent.send({ path, body: text, headers })
        t.true([200, 402].includes(reply.status), `${path}: ${reply.status} ${reply.text.slice(0, 300)}`)
      }
    t.true(agent.scenario.seen().some(({ raw }) => raw.toString() === small))
  })

test('one reading: null for an optional field is the field left out, on every route', async (t) => {
  // Natively, null goes out as it came: what this provider thinks of it is not at stake here.
  await using lenient = await openFixture({ provider: { acceptAnything: true } })
  const [scenario, agent] = [lenient.scenario(), agentFixture.agent()]
  const nulls = Object.fromEntries(
    [
      ...['system', 'tools', 'tool_choice', 'stream', 'metadata', 'thinking', 'temperature', 'top_p', 'top_k'],
      ...['stop_sequences', 'output_config', 'context_management', 'mcp_servers', 'container', 'fallbacks'],
      ...['service_tier', 'n', 'stop', 'functions', 'function_call', 'parallel_tool_calls', 'response_format'],
      ...['stream_options', 'user', 'reasoning', 'reasoning_effort', 'modalities', 'audio', 'logprobs', 'models'],
    ].map((name) => [name, null]),
  )
  const call = { model: 'claude-sonnet-4-5', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] }
  const piped = {
    ...headers,
    'x-svc-pipe': FULL_PIPELINE,
  }
  for (const path of ROUTES) {
    const { send } = path.includes('agent') ? agent : scenario
    const without = await send({ path, body: call, headers: piped })
    const withNulls = await send({ path, body: { ...call, ...nulls }, headers: piped })
    t.true([200, 402].includes(without.status), without.text)
    t.is(withNulls.status, without.status, `${path}: ${withNulls.text.slice(0, 300)}`)
    t.is(withNulls.headers['x-svc-dropped'], without.headers['x-svc-dropped'])
  }
})
