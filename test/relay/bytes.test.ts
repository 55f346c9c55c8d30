import test from 'ava'
import { differenceOf } from '../support/difference.ts'
import { openFixture } from '../support/fixture.ts'
import { ask } from '../support/http-client.ts'
import type { Script } from '../support/provider/script.ts'
import { loadErrors, loadRecordings, toScript } from '../support/recordings.ts'

const fixture = await openFixture({ provider: { acceptAnything: true } })
test.after.always(() => fixture.close())

const HALF_A_MEGABYTE = 512 * 1024

/** Everything that a JSON parser would give back otherwise, in the places where a client may put it. */
const odd = (model: string, text = 'hello') => `
 { "zebra" : {"2":1.0,"1":[2e0,-0.0,1E400,9007199254740993, 0.1000], "a":1,"A":2},
\t"model":"${model}" ,"max_tokens":100,"stream" : false,"7":null,
  "messages":[ {"role":"user","content":"\\u0041\\/\\ud83d\\ude00 \\ud800 \u{1f600} ${text}","x":1e2},
   {"content":[{"type":"future_block","data":{"b":1.50,"a":[]}},{"text":"\\"model\\":\\"anthropic/x\\"","type":"text"}],
  "role":"assistant"} , {"role":"system","content":"also \\r\\n"}],
  "context_management":{"edits":[{"type":"clear_20250919","keep":1.0}]},
  "tools":[{"name":"t","input_schema":{"type":"object","properties":{"10":{},"9":{},"9":1}},"defer_loading":true}] }
`

for (const [name, text] of Object.entries({ small: 'hello', '0.5 MB': 'a\\u00e9é '.repeat(HALF_A_MEGABYTE / 10) })) {
  test(`relay: a ${name} request of odd JSON reaches the provider byte for byte`, async (t) => {
    const scenario = fixture.scenario()
    const body = odd('claude-sonnet-4-5', text)
    const reply = await scenario.send({ body })
    t.is(reply.status, 200, reply.text)
    t.is(differenceOf(scenario.seen()[0]?.raw, body), undefined)
  })

  test(`relay: of a ${name} request with a provider prefix, only the prefix is taken out`, async (t) => {
    const scenario = fixture.scenario()
    const reply = await scenario.send({ body: odd('anthropic/claude-sonnet-4-5', text) })
    t.is(reply.status, 200, reply.text)
    t.is(differenceOf(scenario.seen()[0]?.raw, odd('claude-sonnet-4-5', text)), undefined)
  })
}

test('relay: a prefix written with escapes is taken out as well', async (t) => {
  const scenario = fixture.scenario()
  await scenario.send({ body: odd('anthropic\\/claude-sonnet-4-5') })
  t.is(differenceOf(scenario.seen()[0]?.raw, odd('claude-sonnet-4-5')), undefined)
})

test('relay: the prefix is taken out of a token count as well', async (t) => {
  const scenario = fixture.scenario()
  const path = '/v1/messages/count_tokens'
  const reply = await scenario.send({ path, body: odd('anthropic/claude-sonnet-4-5') })
  t.is(reply.status, 200, reply.text)
  t.is(differenceOf(scenario.seen()[0]?.raw, odd('claude-sonnet-4-5')), undefined)
})

test('relay: a model of no known form goes to the default provider', async (t) => {
  const scenario = fixture.scenario()
  t.is((await scenario.send({ body: ask('hi', { model: 'my-own-model' }) })).status, 200)
  t.is(scenario.seen()[0]?.json?.model, 'my-own-model')
})

test('relay: a request that arrives in small pieces reaches the provider byte for byte', async (t) => {
  const scenario = fixture.scenario()
  const body = odd('claude-sonnet-4-5', 'é'.repeat(9000))
  const reply = await scenario.send({ body, headers: { 'transfer-encoding': 'chunked' } })
  t.is(reply.status, 200, reply.text)
  t.is(differenceOf(scenario.seen()[0]?.raw, body), undefined)
})

test('relay: the query reaches the provider as it is', async (t) => {
  const scenario = fixture.scenario()
  const path = '/v1/messages?beta=true&x=%2F%20+&beta=2&empty='
  t.is((await scenario.send({ path, body: ask('hi') })).status, 200)
  t.is(scenario.seen()[0]?.url, path)
})

test('relay: a JSON reply reaches the client byte for byte', async (t) => {
  const body = '\n{"id":"msg_1","usage":{"output_tokens":1.0,"2":0,"1":9007199254740993},\t"type":"message"}  \n'
  const scenario = fixture.scenario({ kind: 'reply', body, writes: { sizes: [3, 1] } })
  t.is((await scenario.send({ body: ask('hi') })).text, body)
})

test('relay: an empty reply stays empty', async (t) => {
  const scenario = fixture.scenario({ kind: 'reply', status: 404, body: '' })
  t.like(await scenario.send({ body: ask('hi') }), { status: 404, text: '', endedCleanly: true })
})

/** A stream with all that the format allows and an Anthropic one does not use, up to a valid end. */
const oddStream = [
  '\uFEFF: a comment\r\n\r\n',
  'event: message_start\rdata: {"type":"message_start","message":{"usage":{"input_tokens":3}}}\r\r',
  'id: 7\nretry: 10\nevent:future_event\ndata:{"type":\ndata:"future_event"}\n\n',
  'data\n\n:\n\nevent: ping\ndata: {"type": "ping"}\n\n',
  `event: content_block_delta\ndata: {"type":"content_block_delta","delta":"${'é'.repeat(40_000)}"}   \n\n`,
  'event: message_stop\r\ndata: {"type":"message_stop"}\r\n\r\n',
].join('')

for (const sizes of [[1], [2, 3, 5, 7], [65_536]]) {
  test(`relay: a stream of odd but legal events in writes of ${sizes} bytes reaches the client byte for byte`, async (t) => {
    const scenario = fixture.scenario({ kind: 'sse', bytes: oddStream, writes: { sizes, atMost: 500 } })
    const reply = await scenario.send({ body: ask('hi', { stream: true }) })
    t.is(differenceOf(reply.body, oddStream), undefined)
    t.true(reply.endedCleanly)
  })
}

const { items, absent } = loadRecordings()

test('relay: recordings are there, or their absence is logged', (t) => {
  if (absent) t.log(absent)
  t.pass()
})

/** Headers that the gateway may add to a recorded reply, or leave out of it. */
const NOT_COMPARED = new Set(['set-cookie', 'alt-svc', 'strict-transport-security', 'keep-alive', 'date'])

for (const { name, request, response } of items) {
  test(`relay: recording ${name} passes byte for byte, both ways`, async (t) => {
    const script: Script = { ...toScript(response), writes: { sizes: [1, 7, 4096], atMost: 300 } }
    const scenario = fixture.scenario(script)
    const method = request.body.toString() === 'null' ? 'GET' : 'POST'
    const reply = await scenario.send({ ...request, method })
    t.is(reply.status, response.status, reply.text)
    t.is(differenceOf(reply.body, response.bytes), undefined)
    t.true(reply.endedCleanly)
    const [seen] = scenario.seen()
    t.is(differenceOf(seen?.raw, request.body), undefined)
    t.is(seen?.url, request.path)
    const kept = Object.entries(response.headers).filter(([header]) => !NOT_COMPARED.has(header))
    t.like(reply.headers, Object.fromEntries(kept))
  })
}

for (const { name, response } of loadErrors().items.filter((error) => error.response.status < 500)) {
  test(`relay: recorded refusal ${name} reaches the client as it is`, async (t) => {
    const scenario = fixture.scenario(toScript(response))
    const reply = await scenario.send({ body: ask('hi', { stream: true }) })
    t.is(reply.status, response.status)
    t.is(differenceOf(reply.body, response.bytes), undefined)
  })
}
