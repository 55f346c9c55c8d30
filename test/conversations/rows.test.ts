import test from 'ava'
import { CONVERSATION_ID } from '../../src/core/request/conversation/conversation.ts'
import { chat } from '../support/chat-bodies.ts'
import { sendChat } from '../support/door.ts'
import { eventually } from '../support/eventually.ts'
import type { Row } from '../support/gateway-database.ts'
import { ask, type Reply, send } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'
import { createPluginDirectory } from '../support/plugin-folders.ts'
import { MODELS, openProviderFixture } from '../support/provider-fixture.ts'
import { rowOf } from '../support/telemetry.ts'

const cleanUps: (() => void)[] = []
const { path: dataDir } = createPluginDirectory({ teardown: (remove) => void cleanUps.push(remove) })
const fixture = await openProviderFixture({ env: { SVC_DATA_DIR: dataDir, SVC_PIPELINE: 'exact-cache' } })
test.after.always(async () => {
  await fixture.close()
  for (const cleanUp of cleanUps) cleanUp()
})

const CALL = { type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: 'ls' } }
const CLASSES = ['input', 'cache_read', 'cache_write_5m', 'cache_write_1h', 'output', 'reasoning', 'server_tools']

const rowFor = (reply: Reply) => rowOf(dataDir, reply.headers['x-svc-receipt'])
const costOfClasses = (row: Row) => CLASSES.reduce((sum, name) => sum + Number(row[`${name}_nano_usd`]), 0)

async function receiptFor(reply: Reply): Promise<unknown> {
  let found: Reply | undefined
  await eventually(async () => {
    found = await send(fixture.gateway.url, {
      method: 'GET',
      path: `/v1/receipts/${String(reply.headers['x-svc-receipt'])}`,
    })
    return found.status === 200
  }, 'the receipt')
  return found?.json
}

for (const stream of [false, true]) {
  test(`conversations: the row of a reply (stream: ${stream}) has its turn, its tools and its cost by class`, async (t) => {
    const usage = {
      input_tokens: 1000,
      cache_read_input_tokens: 333,
      cache_creation_input_tokens: 77,
      cache_creation: { ephemeral_5m_input_tokens: 33, ephemeral_1h_input_tokens: 44 },
      output_tokens: 101,
      output_tokens_details: { thinking_tokens: 17 },
      server_tool_use: { web_search_requests: 2, web_fetch_requests: 1 },
    }
    const scenario = fixture.scenario({ anthropic: { kind: 'answer', content: [CALL], stopReason: 'tool_use', usage } })
    const headers = { 'x-claude-code-session-id': `rows-${stream}` }
    const sent = async (prompt: string) => rowFor(await scenario.send({ body: ask(prompt, { stream }), headers }))
    const first = await sent(`one ${stream}`)
    t.like(first, { turn: 1, client: 'claude-code', conversation_source: 'client', parent_id: null, agent: null })
    t.regex(String(first.conversation_id), CONVERSATION_ID)
    t.is(first.root_id, first.conversation_id)
    t.like(first, { cache_write_1h_tokens: 44, reasoning_tokens: 17, server_tool_calls: 3, stop_reason: 'tool_use' })
    t.is(first.tools, '["Bash"]')
    t.true(Number(first.first_byte_us) > 0 && Number(first.first_byte_us) <= Number(first.total_us))
    t.true(Number(first.cost_nano_usd) > 0)
    t.is(costOfClasses(first), Number(first.cost_nano_usd))
    t.like(await sent(`two ${stream}`), { conversation_id: first.conversation_id, turn: 2 })
  })

  test(`conversations: the row of a chat completion (stream: ${stream}) has its tools and its stop reason`, async (t) => {
    const scenario = fixture.scenario({
      openai: { kind: 'answer', toolCalls: [{ id: 'call_1', name: 'read_file', arguments: '{"name":"a"}' }] },
    })
    const row = await rowFor(await sendChat(scenario, chat(`files? ${stream}`, { stream, model: MODELS.openai })))
    t.like(row, { stop_reason: 'tool_use', tools: '["read_file"]', conversation_source: 'prefix', turn: 1 })
    t.is(costOfClasses(row), Number(row.cost_nano_usd))
  })
}

test('conversations: a receipt names the conversation and the turn', async (t) => {
  const scenario = fixture.scenario()
  const reply = await scenario.send({ body: ask('with a receipt') })
  const row = await rowFor(reply)
  t.like(await receiptFor(reply), { conversation_id: row.conversation_id, turn: 1 })
})

test('conversations: a stored reply costs nothing, and is a turn', async (t) => {
  const scenario = fixture.scenario({ anthropic: { kind: 'answer', content: [CALL], stopReason: 'tool_use' } })
  const send = () => scenario.send({ body: ask('said twice', { stream: true }) })
  const first = await rowFor(await send())
  const second = await rowFor(await send())
  t.like(second, { cache: 'hit', conversation_id: first.conversation_id, turn: 2, cost_nano_usd: 0 })
  t.like(second, { stop_reason: 'tool_use', tools: '["Bash"]' })
  t.is(costOfClasses(second), 0)
})

test('conversations: an error of the provider is a turn', async (t) => {
  const scenario = fixture.scenario({ anthropic: { kind: 'error', status: 400 } })
  const headers = { 'x-claude-code-session-id': 'failing' }
  const row = await rowFor(await scenario.send({ body: ask('fails'), headers }))
  t.like(row, { status: 400, turn: 1, stop_reason: null, tools: null })
  t.regex(String(row.conversation_id), CONVERSATION_ID)
})

test('conversations: no row or receipt has the client’s own id', async (t) => {
  const scenario = fixture.scenario()
  const headers = { 'x-session-id': 'ses_the-clients-own' }
  const reply = await scenario.send({ body: ask('private'), headers })
  t.false(JSON.stringify(await rowFor(reply)).includes('the-clients-own'))
  const receipt = await receiptFor(reply)
  t.regex(String(valueAt(receipt, 'conversation_id')), CONVERSATION_ID)
  t.false(JSON.stringify(receipt).includes('the-clients-own'))
})
