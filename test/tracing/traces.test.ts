import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import test, { type ExecutionContext } from 'ava'
import { eventually } from '../support/eventually.ts'
import { type Gateway, type Start, startGateway } from '../support/gateway.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { ask, send } from '../support/http-client.ts'
import { freePort } from '../support/ports.ts'
import { startProvider } from '../support/stand-in-provider.ts'

interface Span {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes: { key: string; value: Record<string, unknown> }[]
  events: { name: string }[]
  status: { code?: number }
}

// The exporter reads these from the environment of its thread.
Object.assign(process.env, { OTEL_EXPORTER_OTLP_HEADERS: 'x-team=blue', OTEL_BSP_SCHEDULE_DELAY: '50' })

const SERVER = 2
const CLIENT = 3
const ERROR = 2

/** Starts a collector, which accepts batches of OTLP over HTTP, and nothing else. */
async function startCollector(t: ExecutionContext) {
  const spans: Span[] = []
  const services = new Set<unknown>()
  const server = createServer(async (request, reply) => {
    const body = JSON.parse(await text(request)) as {
      resourceSpans: { resource: { attributes: Span['attributes'] }; scopeSpans: { spans: Span[] }[] }[]
    }
    t.is(`${request.method} ${request.url}`, 'POST /v1/traces')
    t.is(request.headers['x-team'], 'blue')
    for (const { resource, scopeSpans } of body.resourceSpans) {
      services.add(attributeOf(resource.attributes, 'service.name'))
      spans.push(...scopeSpans.flatMap((scope) => scope.spans))
    }
    reply.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  }).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  const address = server.address()
  return { spans, services, url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}` }
}

function attributeOf(attributes: Span['attributes'], key: string): unknown {
  const value = attributes.find((attribute) => attribute.key === key)?.value
  return value && Object.values(value)[0]
}

async function open<Started extends Gateway>(t: ExecutionContext, start: Start<Started>, endpoint: string) {
  const provider = await startProvider()
  t.teardown(() => provider.close())
  const gateway = await start({
    ANTHROPIC_BASE_URL: provider.url,
    ANTHROPIC_API_KEY: 'sk-ant-canary',
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
  })
  t.teardown(() => gateway.stop())
  return { provider, gateway }
}

test('traces: a request is a span with its call, in the trace of the client, and the provider gets its context', async (t) => {
  const collector = await startCollector(t)
  const { provider, gateway } = await open(t, startGateway, collector.url)
  const traceId = `${'a'.repeat(31)}1`
  const parentId = 'b'.repeat(16)
  const headers = { traceparent: `00-${traceId}-${parentId}-01` }
  const reply = await send(gateway.url, { body: ask('the secret word'), headers })
  t.is(reply.status, 200)
  await send(gateway.url, { body: ask('the secret word'), headers })
  await eventually(() => collector.spans.length === 3, 'three spans')

  const [server, call, hit] = collector.spans as [Span, Span, Span]
  t.like(server, { traceId, parentSpanId: parentId, name: 'POST /v1/messages', kind: SERVER })
  t.is(attributeOf(server.attributes, 'turnpike.cache'), 'miss')
  t.is(attributeOf(server.attributes, 'http.response.status_code'), 200)
  t.is(attributeOf(server.attributes, 'turnpike.receipt_id'), reply.headers['x-svc-receipt'])
  t.true(server.events.some(({ name }) => name === 'turnpike.module.exact-cache'))
  t.like(call, { traceId, parentSpanId: server.spanId, kind: CLIENT })
  t.regex(call.name, /^chat claude/)
  t.is(attributeOf(call.attributes, 'gen_ai.provider.name'), 'anthropic')
  t.true(Number(attributeOf(call.attributes, 'gen_ai.usage.input_tokens')) > 0)
  t.true(BigInt(call.startTimeUnixNano) >= BigInt(server.startTimeUnixNano))
  t.true(BigInt(call.endTimeUnixNano) >= BigInt(call.startTimeUnixNano))
  t.is(provider.seen.at(-1)?.headers.traceparent, `00-${traceId}-${call.spanId}-01`)
  t.is(attributeOf(hit.attributes, 'turnpike.cache'), 'hit')
  t.not(hit.spanId, server.spanId)
  t.deepEqual([...collector.services], ['turnpike'])
  t.notRegex(JSON.stringify(collector.spans), /secret word|canary/)
})

test('traces: without a client’s context a trace begins; a trace that a client declines is not sent', async (t) => {
  const collector = await startCollector(t)
  const { provider, gateway } = await open(t, startGateway, collector.url)
  await send(gateway.url, { body: ask('one'), headers: { traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-00` } })
  t.is(provider.seen.at(-1)?.headers.traceparent?.slice(-3), '-00')
  const malformed = `00-${'0'.repeat(32)}-${'2'.repeat(16)}-01`
  await send(gateway.url, { body: ask('two', { stream: true }), headers: { traceparent: malformed } })
  await eventually(() => collector.spans.length === 2, 'two spans')
  const [server] = collector.spans
  t.is(String(attributeOf(server?.attributes ?? [], 'turnpike.request_id')), `req_${server?.traceId}`)
  t.falsy(server?.parentSpanId)
})

test('traces: a call has the tokens of each kind, and its input all that the provider has read', async (t) => {
  const collector = await startCollector(t)
  const { provider, gateway } = await open(t, startGateway, collector.url)
  const usage = { input_tokens: 7, cache_read_input_tokens: 20, cache_creation_input_tokens: 100, output_tokens: 3000 }
  provider.reply({ kind: 'answer', usage })
  await send(gateway.url, { body: ask('how many') })
  await eventually(() => collector.spans.length === 2, 'two spans')
  const call = collector.spans.find(({ kind }) => kind === CLIENT)
  const count = (name: string) => Number(attributeOf(call?.attributes ?? [], `gen_ai.usage.${name}`))
  t.is(count('input_tokens'), 127)
  t.is(count('output_tokens'), 3000)
  t.is(count('cache_read.input_tokens'), 20)
  t.is(count('cache_creation.input_tokens'), 100)
})

test('traces: a provider that fails is an error', async (t) => {
  const collector = await startCollector(t)
  const failing = await startGateway({
    ANTHROPIC_BASE_URL: `http://127.0.0.1:${await freePort()}`,
    ANTHROPIC_API_KEY: 'sk-ant-x',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  })
  t.teardown(() => failing.stop())
  t.is((await send(failing.url, { body: ask('hi') })).status, 502)
  await eventually(() => collector.spans.length > 0, 'it is exported')
  t.is(collector.spans[0]?.status.code, ERROR)
})

test('traces: a collector that is not there holds nothing up', async (t) => {
  // A process: its exit ends the exporter's tries, which would keep this thread for ten seconds.
  const { gateway } = await open(t, (env) => startGatewayProcess(env), `http://127.0.0.1:${await freePort()}`)
  t.is((await send(gateway.url, { body: ask('hi') })).status, 200)
  t.is((await gateway.stop()).code, 0)
})

test('traces: both spans name the conversation, and its turn', async (t) => {
  const collector = await startCollector(t)
  const { gateway } = await open(t, startGateway, collector.url)
  const headers = { 'x-session-id': 'ses_traced' }
  for (const prompt of ['one', 'two']) await send(gateway.url, { body: ask(prompt), headers })
  const of = (kind: number) => collector.spans.filter((span) => span.kind === kind).map(({ attributes }) => attributes)
  await eventually(() => of(SERVER).length === 2 && of(CLIENT).length === 2, 'four spans')
  const ids = [...of(SERVER), ...of(CLIENT)].map((attributes) => attributeOf(attributes, 'gen_ai.conversation.id'))
  t.is(new Set(ids).size, 1)
  t.regex(String(ids[0]), /^conv_\w{26}$/)
  const turns = of(SERVER).map((attributes) => Number(attributeOf(attributes, 'turnpike.conversation.turn')))
  t.deepEqual(
    turns.toSorted((a, b) => a - b),
    [1, 2],
  )
})
