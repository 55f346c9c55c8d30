import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import test from 'ava'
import { eventually } from '../support/eventually.ts'
import { type JsonObject, parseJson, valueAt } from '../support/json.ts'
import { openProviderFixture, type ProviderScenario } from '../support/provider-fixture.ts'

/** Begins a streamed response and never ends it; answers a JSON request with one in the background, which has ended when it is read. */
const calls: unknown[] = []
const server = createServer(async (request, response) => {
  const body = parseJson((await buffer(request)).toString())
  calls.push({ method: request.method, url: request.url, body })
  const queued = { id: 'resp_b', object: 'response', status: 'queued', background: true, output: [], usage: null }
  const usage = { input_tokens: 20, output_tokens: 30, total_tokens: 50 }
  const read = request.method === 'GET' ? { ...queued, status: 'completed', usage } : queued
  if (valueAt(body, 'stream') !== true)
    return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(read))
  const event = { type: 'response.created', sequence_number: 0, response: queued }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  return response.write(`event: response.created\ndata: ${JSON.stringify(event)}\n\n`)
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const { port } = server.address() as AddressInfo // safe: it listens on a port
const slow = { base_url: `http://127.0.0.1:${port}/v1`, api_key: 'slow-key', api: 'responses' }
const fixture = await openProviderFixture({ config: { providers: { tries: 1, 'openai-compatible': { slow } } } })
test.after.always(async () => {
  await fixture.close()
  server.closeAllConnections()
  server.close()
})

const MODEL = 'slow/gpt-4o'
const pipe = { 'x-svc-pipe': 'cost-guard?per_day=1' }

test.serial('stored context: an item reference is held for, however its type is written', async (t) => {
  const scenario = fixture.scenario()
  const headers = { authorization: 'Bearer context-escapes', ...pipe }
  for (const type of ['item_reference', 'item\\u005freference', '\\u0069tem_reference']) {
    const input = `[{"type":"${type}","id":"msg_1"},{"role":"user","content":"on"}]`
    const body = `{"model":"${MODEL}","max_output_tokens":16,"input":${input}}`
    const reply = await scenario.send({ path: '/v1/responses', body, headers })
    t.is(reply.status, 429, `${type}: ${reply.text}`)
  }
  t.is(calls.length, 0)
})

const leave = async (scenario: ProviderScenario, headers: Record<string, string>, body: JsonObject) => {
  const leaves = new AbortController()
  const path = '/v1/responses'
  const onChunk = () => leaves.abort()
  await scenario.send({ path, body: { model: MODEL, ...body, stream: true }, headers, signal: leaves.signal, onChunk })
}

test.serial(
  'stored context: a response in the background is paid for, though its client has disconnected',
  async (t) => {
    const scenario = fixture.scenario()
    const headers = { authorization: 'Bearer context-background', ...pipe }
    await leave(scenario, headers, { input: 'on', max_output_tokens: 4000, background: true })
    // Refused: it reports the budget and spends nothing.
    const body = { model: MODEL, input: 'x', conversation: 'conv_1' }
    const isPaid = async () => {
      const reply = await scenario.send({ path: '/v1/responses', body, headers })
      // 4000 tokens at 10 USD per million.
      return Number(reply.headers['x-svc-budget-day-remaining']) < 0.961
    }
    await t.notThrowsAsync(eventually(isPaid, 'the whole hold is spent', 5000))
  },
)

test.serial('stored context: a response in the background can be read and continued after its stream', async (t) => {
  const scenario = fixture.scenario()
  const headers = { authorization: 'Bearer context-read' }
  await leave(scenario, headers, { input: 'on', background: true })
  const body = { model: MODEL, input: 'x', max_output_tokens: 16, previous_response_id: 'resp_b' }
  const continued = () => scenario.send({ path: '/v1/responses', body, headers: { ...headers, ...pipe } })
  t.is((await continued()).status, 429)
  const read = await scenario.send({ method: 'GET', path: '/v1/responses/resp_b', headers })
  t.like(read.json, { id: 'resp_b', status: 'completed' })
  t.is((await continued()).status, 200)
})
