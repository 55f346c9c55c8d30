import { isDeepStrictEqual } from 'node:util'
import test from 'ava'
import { startKeeper } from '../responses/state-fixture.ts'
import { chat } from '../support/chat-bodies.ts'
import { sendChat } from '../support/door.ts'
import { eventually } from '../support/eventually.ts'
import { ask, type Reply } from '../support/http-client.ts'
import { type JsonObject, valueAt } from '../support/json.ts'
import { DEFAULT_PIPELINE } from '../support/pipelines.ts'
import { createPluginDirectory } from '../support/plugin-folders.ts'
import { MODELS, openProviderFixture } from '../support/provider-fixture.ts'
import { rowOf, rowsOf } from '../support/telemetry.ts'

const cleanUps: (() => void)[] = []
const { path: dataDir } = createPluginDirectory({ teardown: (remove) => void cleanUps.push(remove) })
const keeper = await startKeeper()
const section = { base_url: `${keeper.url}/v1`, api_key: 'keeper-key', api: 'responses' }
const fixture = await openProviderFixture({
  config: { responses: { keep: true }, providers: { 'openai-compatible': { keeper: section } } },
  env: { SVC_DATA_DIR: dataDir, SVC_PIPELINE: DEFAULT_PIPELINE },
})
test.after.always(async () => {
  await fixture.close()
  await keeper.close()
  for (const cleanUp of cleanUps) cleanUp()
})

const rowFor = (reply: Reply) => rowOf(dataDir, reply.headers['x-svc-receipt'])
const conversationOf = async (reply: Reply) => (await rowFor(reply)).conversation_id

test('conversations: the same session id of two callers is two conversations', async (t) => {
  const scenario = fixture.scenario()
  const send = async (caller: string) =>
    conversationOf(
      await scenario.send({
        body: ask('shared session'),
        headers: { authorization: `Bearer ${caller}`, 'x-claude-code-session-id': 'shared-session' },
      }),
    )
  const first = await send('caller-one')
  t.not(await send('caller-two'), first)
  t.is(await send('caller-one'), first)
})

test('conversations: a client that disconnects has a turn', async (t) => {
  const scenario = fixture.scenario({
    anthropic: { kind: 'answer', text: 'a long reply', writes: { sizes: [40], between: { delayMs: 200 } } },
  })
  const headers = { 'x-claude-code-session-id': 'leaving' }
  const leaves = new AbortController()
  const reply = await scenario.send({
    body: ask('leaves', { stream: true }),
    headers,
    signal: leaves.signal,
    onChunk: () => leaves.abort(),
  })
  t.like(await rowFor(reply), { outcome: 'cancelled', turn: 1, client: 'claude-code' })
  t.like(await rowFor(await scenario.send({ body: ask('stays'), headers })), { turn: 2 })
})

test('conversations: a request that is refused before its pipeline is in its conversation, and is no turn', async (t) => {
  const scenario = fixture.scenario()
  const headers = { 'x-claude-code-session-id': 'refused' }
  const first = await rowFor(await scenario.send({ body: ask('fine'), headers }))
  const refused = await scenario.send({ body: { model: 'claude-sonnet-4-5' }, headers })
  t.is(refused.status, 400)
  const row = await rowOf(dataDir, refused.headers['request-id'])
  t.like(row, { outcome: 'refused', conversation_id: first.conversation_id, turn: 0 })
  t.like(await rowFor(await scenario.send({ body: ask('fine again'), headers })), { turn: 2 })
})

test('conversations: a request that a plugin refuses is a turn', async (t) => {
  const scenario = fixture.scenario()
  const headers = { 'x-session-id': 'ses_capped', 'x-svc-pipe': 'cost-guard?per_request=0.000001' }
  const reply = await scenario.send({ body: ask('too dear', { max_tokens: 4000 }), headers })
  t.not(reply.status, 200)
  t.like(await rowFor(reply), { client: 'opencode', turn: 1, outcome: 'error' })
})

test('conversations: a chat client is recognised by its messages, whichever provider answers', async (t) => {
  const scenario = fixture.scenario()
  const messages = [{ role: 'user', content: 'chat with the gateway' }]
  const send = async (model: string) => conversationOf(await sendChat(scenario, chat('', { model, messages })))
  const first = await send(MODELS.openai)
  messages.push({ role: 'assistant', content: 'hello' }, { role: 'user', content: 'go on' })
  t.is(await send(MODELS.anthropic), first)
})

const STORED_BY = { 'its provider': 'keeper/gpt-4o', 'the gateway': MODELS.house }
for (const [keptBy, model] of Object.entries(STORED_BY))
  test(`conversations: a request continues the conversation of the response that it names, stored by ${keptBy}`, async (t) => {
    const scenario = fixture.scenario()
    const send = (body: JsonObject) => scenario.send({ path: '/v1/responses', body: { model, ...body } })
    const first = await send({ input: `begin with ${keptBy}` })
    t.is(first.status, 200, first.text)
    const second = await send({ input: 'go on', previous_response_id: valueAt(first.json, 'id') })
    t.is(second.status, 200, second.text)
    const third = await send({ input: 'and on', previous_response_id: valueAt(second.json, 'id') })
    const id = await conversationOf(first)
    t.is(await conversationOf(second), id)
    t.like(await rowFor(third), { conversation_id: id, turn: 3 })
    t.not(await conversationOf(await send({ input: `begin otherwise with ${keptBy}` })), id)
  })

test('conversations: the sums of each conversation are those of its rows', async (t) => {
  const scenario = fixture.scenario()
  const headers = { 'x-claude-code-session-id': 'summed' }
  for (const prompt of ['a', 'b', 'c', 'a']) await scenario.send({ body: ask(prompt), headers })
  const sums = (table: string, turns: string) =>
    rowsOf(
      dataDir,
      `select conversation_id, ${turns} as turns, sum(cost_nano_usd) as cost, sum(output_tokens) as output
       from ${table} where conversation_id is not null group by conversation_id order by conversation_id`,
    )
  const ofRows = () => sums('usage_request', 'count(*)')
  await eventually(async () => (await ofRows()).some(({ turns }) => turns === 4), 'four rows')
  // Other tests of this file send requests between the two queries.
  const areEqual = async () => isDeepStrictEqual(await sums('usage_conversation', 'sum(turns)'), await ofRows())
  await t.notThrowsAsync(eventually(areEqual, 'equal sums'))
})
