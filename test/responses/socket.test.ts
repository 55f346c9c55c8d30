import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import { linesOf } from '../support/door.ts'
import { eventually } from '../support/eventually.ts'
import { send } from '../support/http-client.ts'
import { type JsonObject, valueAt } from '../support/json.ts'
import { MODELS, openProviderFixture, type ProviderScenario } from '../support/provider-fixture.ts'
import { assertResponseStream } from '../support/response-rules.ts'
import { connect, open, responseOf } from './socket-client.ts'

const fixture = await openProviderFixture({
  config: { responses: { sockets: { most_of_caller: 2 } }, server: { body_limit: '256KB' } },
})
test.after.always(() => fixture.close())

let callers = 0
const headersOf = ({ headers }: ProviderScenario, more: Record<string, string> = {}) => ({
  ...headers,
  authorization: `Bearer socket-caller-${++callers}`,
  ...more,
})
const user = (content: string): JsonObject => ({ type: 'message', role: 'user', content })
const textOf = (events: readonly JsonObject[]) => String(valueAt(responseOf(events), 'output.0.content.0.text'))

for (const model of Object.values(MODELS)) {
  test(`socket: ${model} answers turn after turn, each with the events of a stream`, async (t) => {
    const scenario = fixture.scenario()
    await using client = await open(fixture.gateway.url, headersOf(scenario))
    const first = await client.ask({ model, input: [user('My name is Ada.')], store: false })
    const asStream = (events: readonly JsonObject[]) =>
      Buffer.from(
        `${events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')}data: [DONE]\n\n`,
      )
    t.like(assertResponseStream(asStream(first)), { status: 'completed' })
    const previous_response_id = responseOf(first).id
    const next = await client.ask({ model, input: [user('Who am I?')], previous_response_id, store: false })
    t.is(responseOf(next).previous_response_id, previous_response_id)
    const provider = model.split('/')[0] as 'anthropic' // safe: the names of MODELS
    const sent = JSON.stringify(scenario.seen(provider).at(-1)?.json)
    for (const text of ['My name is Ada.', textOf(first), 'Who am I?']) t.true(sent.includes(text), text)
    t.is(scenario.seen(provider).length, 2)
  })
}

test('socket: a turn passes plugins, caps, log and receipts, as a request of its own', async (t) => {
  const scenario = fixture.scenario()
  const headers = headersOf(scenario, { 'x-svc-pipe': 'exact-cache,cost-guard?per_request=0.001' })
  await using client = await open(fixture.gateway.url, headers)
  const body = { model: MODELS.anthropic, input: t.title, max_output_tokens: 20 }
  const [first, second] = [await client.ask(body), await client.ask(body)]
  t.is(textOf(first), textOf(second))
  t.is(scenario.seen('anthropic').length, 1)
  const [refused] = await client.ask({ ...body, input: 'x'.repeat(20_000) })
  t.like(refused, { type: 'error', status: 429, error: { code: 'cost_limit_per_request' } })
  t.is((await client.ask(body)).at(-1)?.type, 'response.completed')
  const receipts = async () =>
    valueAt(
      (await send(fixture.gateway.url, { method: 'GET', path: '/v1/receipts', headers })).json,
      'data',
    ) as unknown[]
  await eventually(async () => (await receipts()).length >= 3, 'a receipt for each turn')
  const lines = linesOf(fixture.gateway).filter(({ path }) => path === '/v1/responses')
  t.true(lines.some(({ status, method }) => status === 101 && method === 'GET'))
})

test('socket: an announced request is not sent, and the next one continues it', async (t) => {
  const scenario = fixture.scenario()
  await using client = await open(fixture.gateway.url, headersOf(scenario))
  const model = MODELS.anthropic
  const announced = await client.ask({ model, input: [user('Read this.')], generate: false })
  t.deepEqual(
    announced.map(({ type }) => type),
    ['response.created', 'response.in_progress', 'response.completed'],
  )
  t.like(responseOf(announced), { output: [], usage: { total_tokens: 0 } })
  t.is(scenario.seen('anthropic').length, 0)
  await client.ask({ model, input: [user('Go.')], previous_response_id: responseOf(announced).id })
  const sent = JSON.stringify(scenario.seen('anthropic')[0]?.json)
  t.true(sent.includes('Read this.') && sent.includes('Go.'))
  t.false(sent.includes('generate'))
})

test('socket: a response is continued on its own socket alone, and not after a failure', async (t) => {
  const scenario = fixture.scenario({
    anthropic: (nth) => (nth === 2 ? { kind: 'error', status: 400, message: 'no' } : undefined),
  })
  const headers = headersOf(scenario)
  await using client = await open(fixture.gateway.url, headers)
  await using other = await open(fixture.gateway.url, headers)
  const model = 'responder/gpt-5.2'
  const notFound = { type: 'error', error: { code: 'previous_response_not_found' } }
  const id = responseOf(await client.ask({ model, input: 'one', store: false })).id
  const body = { model, input: 'two', store: false, previous_response_id: id }
  t.like((await other.ask(body))[0], notFound)
  // Refused before any provider is called: an item that no API has.
  const failed = await client.ask({ ...body, input: [{ type: 'function_call_output', call_id: 'none', output: 'x' }] })
  t.is(failed[0]?.type, 'error')
  t.like((await client.ask(body))[0], notFound)
  t.is((await client.ask({ model, input: 'again', store: false })).at(-1)?.type, 'response.completed')
})

test('socket: what is no request is answered by an error, and the socket stays open', async (t) => {
  const scenario = fixture.scenario()
  await using client = await open(fixture.gateway.url, headersOf(scenario))
  for (const message of ['{', '[]', '{"type":"response.cancel"}', '{"type":"response.create","model":""}']) {
    client.send(message)
    t.like((await client.answer())[0], { type: 'error', status: 400, error: { code: 'invalid_request' } })
  }
  const [lane] = await client.ask({ model: MODELS.anthropic, input: 'x', stream_id: 'a' })
  t.like(lane, { type: 'error', error: { param: 'stream_id' } })
  client.send({ type: 'response.processed' })
  t.is((await client.ask({ model: MODELS.anthropic, input: 'x' })).at(-1)?.type, 'response.completed')
  client.send(Buffer.from([1, 2]))
  t.is(await client.closed, 1003)
})

test('socket: messages sent at once are answered in order, one after another', async (t) => {
  const scenario = fixture.scenario()
  await using client = await open(fixture.gateway.url, headersOf(scenario))
  const inputs = ['a', 'bb', 'ccc']
  for (const input of inputs) client.send({ type: 'response.create', model: MODELS.anthropic, input })
  const answers = [await client.answer(), await client.answer(), await client.answer()]
  for (const events of answers) {
    t.is(events[0]?.type, 'response.created')
    t.is(events.filter(({ type }) => type === 'response.created').length, 1)
  }
  t.is(scenario.seen('anthropic').length, 3)
})

test('socket: a client that disconnects cancels its turn', async (t) => {
  const stays = { sizes: [200], between: { until: new Promise(() => {}) } }
  const scenario = fixture.scenario({ anthropic: { kind: 'answer', text: 'word '.repeat(500), writes: stays } })
  const client = await open(fixture.gateway.url, headersOf(scenario))
  client.send({ type: 'response.create', model: MODELS.anthropic, input: t.title })
  await eventually(() => scenario.seen('anthropic').length === 1, 'the provider is called')
  client.socket.terminate()
  await eventually(() => scenario.seen('anthropic')[0]?.ended === 'client-left', 'the call is cancelled')
  t.is(scenario.seen('anthropic').length, 1)
})

test('socket: too many sockets, too large messages and missing credentials are refused', async (t) => {
  const scenario = fixture.scenario()
  const headers = headersOf(scenario)
  t.like(await connect(fixture.gateway.url, { ...headers, authorization: '' }), { status: 401 })
  const first = await open(fixture.gateway.url, headers)
  await using second = await open(fixture.gateway.url, headers)
  t.like(await connect(fixture.gateway.url, headers), { status: 429 })
  second.send(`{"type":"response.create","input":"${'x'.repeat(300_000)}"}`)
  t.is(await second.closed, 1009)
  await first[Symbol.asyncDispose]()
  await eventually(async () => {
    const again = await connect(fixture.gateway.url, headers)
    if ('status' in again) return false
    await again[Symbol.asyncDispose]()
    return true
  }, 'a closed socket is not counted')
})

test('socket: where sockets are off, the handshake is 426', async (t) => {
  await using off = await openProviderFixture({ config: { responses: { sockets: { most_of_caller: 0 } } } })
  t.like(await connect(off.gateway.url, {}), { status: 426 })
})

/** A reply that waits at its beginning until it is released. */
function gated() {
  const { promise, resolve } = Promise.withResolvers<void>()
  const writes = { sizes: [200], between: (done: number) => (done === 1 ? { until: promise } : undefined) }
  return { script: { kind: 'answer', text: 'word '.repeat(40), writes } as const, release: resolve }
}

test('socket: a socket closes at its lifetime, after its turn', async (t) => {
  await using aged = await openProviderFixture({ config: { responses: { sockets: { lifetime: '2s' } } } })
  const { script, release } = gated()
  const client = await open(aged.gateway.url, headersOf(aged.scenario({ anthropic: script })))
  const answered = client.ask({ model: MODELS.anthropic, input: 'x' })
  await sleep(2200)
  t.is(client.socket.readyState, client.socket.OPEN)
  release()
  t.is((await answered).at(-1)?.type, 'response.completed')
  t.like((await client.answer())[0], { status: 400, error: { code: 'websocket_connection_limit_reached' } })
  t.is(await client.closed, 1000)
})

test('socket: a socket closes when it is idle, and when the gateway stops, after its turn', async (t) => {
  const brief = await openProviderFixture({ config: { responses: { sockets: { idle: '2s' } } } })
  const idle = await open(brief.gateway.url)
  t.is(await idle.closed, 1000)
  const { script, release } = gated()
  const scenario = brief.scenario({ anthropic: script })
  const busy = await open(brief.gateway.url, headersOf(scenario))
  const answered = busy.ask({ model: MODELS.anthropic, input: 'x' })
  await eventually(() => scenario.seen('anthropic').length === 1, 'the provider is called')
  const ended = brief.close()
  await eventually(
    () => send(brief.gateway.url, { path: '/health', method: 'GET' }).then(({ status }) => status === 0),
    'the gateway drains',
  )
  release()
  t.is((await answered).at(-1)?.type, 'response.completed')
  t.is(await busy.closed, 1001)
  await ended
})
