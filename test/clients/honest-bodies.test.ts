import test from 'ava'
import { startGateway } from '../support/gateway.ts'
import { send } from '../support/http-client.ts'
import type { JsonObject } from '../support/json.ts'
import { startOpenAI } from '../support/stand-in-openai.ts'
import { startProvider } from '../support/stand-in-provider.ts'

/*
 * Bodies as clients send them, with members that the gateway does not know and names of their own in them. Each passes
 * with a cap in force, byte for byte where the provider speaks the client's dialect.
 */

const anthropic = await startProvider({ acceptAnything: true, script: () => ({ kind: 'answer', text: 'fine' }) })
const openai = await startOpenAI({ acceptAnything: true, script: () => ({ kind: 'answer', text: 'fine' }) })
const gateway = await startGateway({
  ANTHROPIC_BASE_URL: anthropic.url,
  ANTHROPIC_API_KEY: 'sk',
  OPENAI_BASE_URL: `${openai.url}/v1`,
  OPENAI_API_KEY: 'sk',
  SVC_COST_PER_DAY: '1000',
})
test.after.always(async () => {
  await gateway.stop()
  for (const server of [anthropic, openai]) await server.close()
})

const CLAUDE = 'claude-sonnet-4-5'
const hello = { role: 'user', content: 'hi' }
/** Names that are those of the API in another case, or name a model there. */
const OWN_NAMES = { ID: '1', id: '2', Name: 'x', Model: 'y', model: 'gpt-4o', Type: null }
const SCHEMA = { type: 'object', properties: { ID: {}, Name: {}, models: { const: 'gpt-4o' } } }
const DEEP = Array.from({ length: 20 }).reduce<JsonObject>((inside) => ({ properties: { a: inside } }), SCHEMA)
const toolTurn = [
  { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'find', input: OWN_NAMES }] },
  {
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: 't', content: 'ok', structuredContent: { rows: [OWN_NAMES] } }],
  },
]
const parsedTurn = {
  role: 'assistant',
  content: '{"ID":1}',
  parsed: OWN_NAMES,
  tool_calls: [{ id: 'c', type: 'function', function: { name: 'find', arguments: '{}', parsed_arguments: OWN_NAMES } }],
}

const MESSAGES: Readonly<Record<string, JsonObject>> = {
  'examples of a tool': { tools: [{ name: 'find', input_schema: SCHEMA, input_examples: [OWN_NAMES] }] },
  'a toolset configured by the names of its tools': {
    mcp_servers: [{ type: 'url', url: 'https://example.com', name: 'crm' }],
    tools: [{ type: 'mcp_toolset', mcp_server_name: 'crm', configs: { ID: { enabled: false }, Name: {}, Search: {} } }],
  },
  'a tool as an MCP server describes it': {
    tools: [{ name: 'find', input_schema: SCHEMA, outputSchema: DEEP, annotations: { Title: 'Find' } }],
  },
  'structured results of tools': { messages: [hello, ...toolTurn] },
}

const CHAT: Readonly<Record<string, JsonObject>> = {
  'no limit by null': { max_tokens: null },
  'no new limit by null': { max_completion_tokens: null, max_tokens: 9 },
  'no limit by -1': { max_tokens: -1 },
  'a deep schema of vLLM': { guided_json: DEEP, structured_outputs: { json: DEEP } },
  'a schema of the answer': { response_format: { type: 'json_schema', json_schema: { name: 'R', schema: DEEP } } },
  'answers that an SDK has parsed': {
    messages: [hello, parsedTurn, { role: 'tool', tool_call_id: 'c', content: 'ok' }],
  },
  'examples of a function': { tools: [{ type: 'function', function: { name: 'find', examples: [OWN_NAMES] } }] },
}

for (const [what, extra] of Object.entries(MESSAGES))
  test(`honest bodies: ${what} goes out byte for byte`, async (t) => {
    const text = JSON.stringify({ model: CLAUDE, max_tokens: 9, messages: [hello], ...extra })
    const reply = await send(gateway.url, { body: text })
    t.is(reply.status, 200, reply.text)
    t.true(anthropic.seen.some(({ raw }) => raw.toString() === text))
  })

for (const [what, extra] of Object.entries(CHAT))
  test(`honest bodies: ${what} passes on chat, and goes out byte for byte to a provider of chat completions`, async (t) => {
    for (const model of ['gpt-4o', CLAUDE]) {
      const text = JSON.stringify({ model, messages: [hello], ...extra })
      const reply = await send(gateway.url, { path: '/v1/chat/completions', body: text })
      t.is(reply.status, 200, `${model}: ${reply.text}`)
      if (model !== CLAUDE) t.true(openai.seen.some(({ raw }) => raw.toString() === text))
    }
  })

test('honest bodies: a limit of -1 beside another is refused, since readers could take either', async (t) => {
  const body = { model: 'gpt-4o', messages: [hello], max_tokens: -1, max_completion_tokens: 9 }
  const reply = await send(gateway.url, { path: '/v1/chat/completions', body })
  t.is(reply.status, 400)
})
