import test from 'ava'
import { openFixture, type Scenario } from '../support/fixture.ts'
import { ask, type SendOptions } from '../support/http-client.ts'
import { type JsonObject, valueAt } from '../support/json.ts'
import { connectRaw } from '../support/raw-client.ts'

const fixture = await openFixture({ config: { server: { body_limit: '1MB' } } })
test.after.always(() => fixture.close())

const content = (...blocks: unknown[]) => ({ messages: [{ role: 'user', content: blocks }] })
const image = (source: unknown) => content({ type: 'text', text: 'look' }, { type: 'image', source })

/** Wrong parts of a body, and the place that the message must name. */
const invalid: [claim: string, wrong: JsonObject, names: RegExp][] = [
  ['no model', { model: undefined }, /model/],
  ['a model that is a number', { model: 5 }, /model/],
  ['no max_tokens', { max_tokens: undefined }, /max_tokens/],
  ['max_tokens of 0', { max_tokens: 0 }, /max_tokens/],
  ['negative max_tokens', { max_tokens: -5 }, /max_tokens/],
  ['max_tokens with a fraction', { max_tokens: 1.5 }, /max_tokens/],
  ['max_tokens as text', { max_tokens: '5' }, /max_tokens/],
  ['no messages', { messages: undefined }, /messages/],
  ['messages that are text', { messages: 'hi' }, /messages/],
  ['a message that is text', { messages: ['hi'] }, /messages(\[0\]|\.0)/],
  ['an unknown role', { messages: [{ role: 'tool', content: 'x' }] }, /messages(\[0\]|\.0)\.role/],
  ['no role', { messages: [{ content: 'x' }] }, /messages(\[0\]|\.0)\.role/],
  ['content that is a number', { messages: [{ role: 'user', content: 1 }] }, /messages(\[0\]|\.0)\.content/],
  ['no content', { messages: [{ role: 'user' }] }, /messages(\[0\]|\.0)\.content/],
  ['a block without type', content({ text: 'x' }), /messages(\[0\]|\.0)\.content(\[0\]|\.0)\.type/],
  ['a block that is text', content('x'), /messages(\[0\]|\.0)\.content/],
  ['a text block without text', content({ type: 'text' }), /content(\[0\]|\.0)\.text/],
  ['a text block whose text is a number', content({ type: 'text', text: 1 }), /content(\[0\]|\.0)\.text/],
  ['an image without source', image(undefined), /content(\[1\]|\.1)\.source/],
  ['a tool_use without id', content({ type: 'tool_use', name: 'n', input: {} }), /content(\[0\]|\.0)\.id/],
  ['a tool_use without name', content({ type: 'tool_use', id: 'i', input: {} }), /content(\[0\]|\.0)\.name/],
  ['a tool_result without tool_use_id', content({ type: 'tool_result' }), /content(\[0\]|\.0)\.tool_use_id/],
  ['a temperature over 2', { temperature: 2.1 }, /temperature/],
  ['a negative temperature', { temperature: -0.1 }, /temperature/],
  ['a temperature as text', { temperature: '1' }, /temperature/],
  ['a top_p over 1', { top_p: 1.1 }, /top_p/],
  ['a top_k of 0', { top_k: 0 }, /top_k/],
  ['a top_k with a fraction', { top_k: 2.5 }, /top_k/],
  ['stop_sequences that are text', { stop_sequences: 'x' }, /stop_sequences/],
  ['a stop sequence that is a number', { stop_sequences: ['x', 1] }, /stop_sequences(\[1\]|\.1)/],
  ['stream as text', { stream: 'true' }, /stream/],
  ['a system that is a number', { system: 1 }, /system/],
  ['a system block that is text', { system: ['x'] }, /system/],
  ['tools that are an object', { tools: {} }, /tools/],
  ['a tool that is text', { tools: ['x'] }, /tools(\[0\]|\.0)/],
  ['metadata that is text', { metadata: 'x' }, /metadata/],
  ['a model with an unknown prefix', { model: 'nobody/claude-x' }, /model.*nobody/],
]

/** Makes a body larger than what the gateway parses whole in any case. */
const padding = { padding: 'x'.repeat(20_000) }

async function refusal(
  scenario: Scenario,
  options: SendOptions,
): Promise<{ status: number; type: unknown; message: string }> {
  const reply = await scenario.send(options)
  const message = String(valueAt(reply.json, 'error.message'))
  return { status: reply.status, type: valueAt(reply.json, 'error.type'), message }
}

for (const [claim, wrong, names] of invalid) {
  test(`refusals: ${claim} is answered 400 and named, in small bodies and large`, async (t) => {
    for (const size of [{}, padding]) {
      const scenario = fixture.scenario()
      const { status, type, message } = await refusal(scenario, { body: ask('hi', { ...size, ...wrong }) })
      t.is(status, 400)
      t.is(type, 'invalid_request')
      t.regex(message, names)
      t.is(scenario.seen().length, 0)
    }
  })
}

test('refusals: a mistyped prefix is answered with the nearest provider', async (t) => {
  const { message } = await refusal(fixture.scenario(), { body: ask('hi', { model: 'antropic/claude-x' }) })
  t.regex(message, /Did you mean `anthropic`/)
})

test('refusals: values at their bounds pass', async (t) => {
  const bounds = { max_tokens: 1, temperature: 1, top_p: 0, top_k: 1, stop_sequences: [], system: [], tools: [] }
  t.is((await fixture.scenario().send({ body: ask('hi', bounds) })).status, 200)
})

const broken: [claim: string, body: string, position: RegExp][] = [
  ['a missing value', '{"model": "x",\n "max_tokens": }', /line 2, column 16/],
  ['a missing end', '{"model": "x",\n\n  "a": [1, 2', /line 3, column 13/],
  ['a trailing comma', '{"model": "x",}', /line 1, column 15/],
  ['single quotes', "{'model': 1}", /line 1, column 2/],
  ['something after the end', '{"a":1}\n x', /line 2, column 2/],
  ['a line end within text', '{"a":"b\n"}', /line 1, column 8/],
  ['a bad escape', '{"a":"\\x"}', /line 1, column [78]/],
  ['a number with a leading zero', '{"a":01}', /line 1, column [67]/],
  ['columns after wide characters', '{"é😀": oops}', /line 1, column \d/],
  ['nothing', '', /end of the document/],
]

for (const [claim, body, position] of broken) {
  test(`refusals: JSON with ${claim} is answered 400 with the position`, async (t) => {
    const scenario = fixture.scenario()
    const { status, type, message } = await refusal(scenario, { body })
    t.is(status, 400)
    t.is(type, 'invalid_request')
    t.regex(message, position)
    t.is(scenario.seen().length, 0)
  })
}

test('refusals: the position is right in a large body as well', async (t) => {
  const filler = ['x', 'y', 'z'].map((name) => `"${name}": "${'é'.repeat(10_000)}",\n`)
  const body = `{\n${filler.join('')}"model" 1}`
  t.regex((await refusal(fixture.scenario(), { body })).message, /line 5, column 9/)
})

for (const [claim, body] of Object.entries({ 'an array': '[]', null: 'null', text: '"x"', 'a number': '7' })) {
  test(`refusals: a body that is ${claim} is answered 400`, async (t) => {
    t.like(await refusal(fixture.scenario(), { body }), { status: 400, type: 'invalid_request' })
  })
}

test('refusals: a field that appears twice is answered 400 and named', async (t) => {
  const body = '{"model":"claude-x","max_tokens":1,"messages":[],"model":"claude-y"}'
  const { status, message } = await refusal(fixture.scenario(), { body })
  t.is(status, 400)
  t.regex(message, /model.*twice/)
})

test('refusals: bytes that are not UTF-8 are answered 400', async (t) => {
  const scenario = fixture.scenario()
  const body = Buffer.concat([Buffer.from('{"model":"claude-'), Buffer.of(0xff), Buffer.from('"}')])
  t.like(await refusal(scenario, { body }), { status: 400, type: 'invalid_request' })
})

test('refusals: bytes that are not UTF-8 are answered 400 inside an otherwise valid prompt too', async (t) => {
  const scenario = fixture.scenario()
  const [head, tail] = JSON.stringify(ask('hello', padding)).split('hello')
  const body = Buffer.concat([Buffer.from(String(head)), Buffer.of(0xc3, 0x28), Buffer.from(String(tail))])
  t.like(await refusal(scenario, { body }), { status: 400, type: 'invalid_request' })
  t.is(scenario.seen().length, 0)
})

test('refusals: a body nested a hundred thousand deep does not bring the gateway down', async (t) => {
  const scenario = fixture.scenario()
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  const { status } = await refusal(scenario, {
    body: `{"model":"claude-x","max_tokens":1,"messages":[],"x":${deep}}`,
  })
  t.true([200, 400].includes(status), String(status))
  await fixture.assertSound(t, scenario)
})

for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', '']) {
  test(`refusals: content-type \`${type}\` is answered 415`, async (t) => {
    for (const path of ['/v1/messages', '/v1/messages/count_tokens']) {
      const { status, message } = await refusal(fixture.scenario(), {
        path,
        body: JSON.stringify(ask('hi')),
        headers: { 'content-type': type },
      })
      t.is(status, 415)
      t.regex(message, /application\/json/)
    }
  })
}

for (const type of ['application/json; charset=utf-8', 'Application/JSON', 'application/vnd.api+json']) {
  test(`refusals: content-type \`${type}\` is taken`, async (t) => {
    const headers = { 'content-type': type }
    t.not((await fixture.scenario().send({ body: JSON.stringify(ask('hi')), headers })).status, 415)
  })
}

test('refusals: a compressed request body is answered 415', async (t) => {
  const headers = { 'content-encoding': 'gzip' }
  t.is((await refusal(fixture.scenario(), { body: ask('hi'), headers })).status, 415)
})

const HEAD = 'POST /v1/messages HTTP/1.1\r\nhost: x\r\nauthorization: Bearer k\r\ncontent-type: application/json\r\n'
const framings = {
  'an announced length': { head: 'content-length: 50000000\r\n\r\n', piece: 'x'.repeat(1000) },
  'no announced length': {
    head: 'transfer-encoding: chunked\r\n\r\n',
    piece: `100000\r\n${'x'.repeat(0x100000)}\r\n`.repeat(2),
  },
}

for (const [claim, { head, piece }] of Object.entries(framings)) {
  test(`refusals: a body over the limit with ${claim} is answered 413 while it still arrives`, async (t) => {
    const client = await connectRaw(fixture.gateway.port)
    client.write(HEAD + head + piece)
    await client.until('HTTP/1.1 413')
    await client.until('"type":"invalid_request"')
    t.pass()
    client.destroy()
  })
}

for (const transfer of ['content-length', 'chunked']) {
  test(`refusals: a client that sends its whole too large body (${transfer}) gets to read the 413`, async (t) => {
    const body = 'x'.repeat(8 * 1024 * 1024)
    const headers = transfer === 'chunked' ? { 'transfer-encoding': 'chunked' } : {}
    const scenario = fixture.scenario()
    const reply = await scenario.send({ body, headers })
    t.is(reply.status, 413, String(reply.error))
    t.like(reply.json, { error: { type: 'invalid_request' } })
    await fixture.assertSound(t, scenario)
  })
}

for (const headers of [{}, { 'transfer-encoding': 'chunked' }])
  test(`refusals: a body of the limit passes, one with a byte more is 413 (${JSON.stringify(headers)})`, async (t) => {
    const scenario = fixture.scenario()
    const empty = Buffer.byteLength(JSON.stringify(ask('')))
    const sendOf = (bytes: number) => scenario.send({ body: ask('x'.repeat(bytes - empty)), headers })
    t.is((await sendOf(1024 * 1024)).status, 200)
    t.is((await sendOf(1024 * 1024 + 1)).status, 413)
  })
