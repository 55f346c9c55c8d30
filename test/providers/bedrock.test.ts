import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test from 'ava'
import { chunkFrame, exceptionFrame } from '../support/bedrock/frames.ts'
import { differenceOf } from '../support/difference.ts'
import { startGateway } from '../support/gateway.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { ask, type SendOptions, send } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'
import type { Script } from '../support/provider/script.ts'
import { loadRecordings } from '../support/recordings.ts'
import { startBedrock } from '../support/stand-in-bedrock.ts'

const KEYS = {
  accessKeyId: 'AKIAOPERATOR',
  secretAccessKey: 'operator-secret-key',
  sessionToken: 'operator/session+token==',
  region: 'eu-central-1',
}
const API_KEY = 'operator-bedrock-api-key'
const SECRETS = [KEYS.secretAccessKey, KEYS.sessionToken, API_KEY]
const FRAMES = { 'content-type': 'application/vnd.amazon.eventstream' }

const folder = await mkdtemp(path.join(tmpdir(), 'turnpike-bedrock-'))
const config = path.join(folder, 'turnpike.yaml')
await writeFile(config, 'plugins: { watch: false }\nproviders: { bedrock: { models: [anthropic.claude-x-v1:0] } }\n')
const profiles = path.join(folder, 'credentials')
await writeFile(
  profiles,
  `[work]\naws_access_key_id=${KEYS.accessKeyId}\naws_secret_access_key=${KEYS.secretAccessKey}\naws_session_token=${KEYS.sessionToken}\n`,
)

const signed = await startBedrock(KEYS, '/private')
const keyed = await startBedrock({ apiKey: API_KEY })
const common = {
  SVC_PIPELINE: 'none',
  SVC_CONFIG: config,
  AWS_EC2_METADATA_DISABLED: 'true',
  AWS_CONFIG_FILE: '/dev/null',
}
const signing = { ...common, BEDROCK_REGION: KEYS.region, BEDROCK_BASE_URL: `${signed.url}/private` }
const keys = {
  AWS_ACCESS_KEY_ID: KEYS.accessKeyId,
  AWS_SECRET_ACCESS_KEY: KEYS.secretAccessKey,
  AWS_SESSION_TOKEN: KEYS.sessionToken,
}
const [gateway, keyGateway, profileGateway, bareGateway] = await Promise.all([
  startGateway({ ...signing, ...keys }),
  startGateway({ ...common, BEDROCK_BASE_URL: keyed.url, AWS_BEARER_TOKEN_BEDROCK: API_KEY }),
  // The places of the machine's own credentials are variables of a process.
  startGatewayProcess({ ...signing, AWS_PROFILE: 'work', AWS_SHARED_CREDENTIALS_FILE: profiles }),
  startGatewayProcess({ ...signing, AWS_SHARED_CREDENTIALS_FILE: '/dev/null' }),
])
const gateways = [gateway, keyGateway, profileGateway, bareGateway]
test.after.always(async () => {
  await Promise.all(gateways.map((one) => one.stop()))
  await Promise.all([signed.close(), keyed.close(), rm(folder, { recursive: true, force: true })])
})
test.after('bedrock: no credential is in a log', (t) => {
  const logs = gateways.map((one) => one.log()).join('')
  for (const secret of SECRETS) t.false(logs.includes(secret))
  t.notRegex(logs, /unhandled|uncaught/i)
})

let models = 0
/** Creates a model of the test's own, with the script of its requests. */
function scenario(script?: Script | ((nth: number) => Script | undefined)) {
  const model = `eu.anthropic.scenario-${++models}-v1:0`
  signed.reply(model, typeof script === 'function' ? (_request, nth) => script(nth) : () => script)
  return {
    model,
    seen: () => signed.seenOf(model),
    send: (options: SendOptions = {}, fields = {}) =>
      send(gateway.url, { body: ask('hello there', { model: `bedrock/${model}`, ...fields }), ...options }),
  }
}

test('bedrock: a signed request is answered, and its path names the model', async (t) => {
  const { model, send, seen } = scenario()
  const reply = await send()
  t.is(reply.status, 200, reply.text)
  t.is(seen()[0]?.url, `/private/model/${encodeURIComponent(model)}/invoke`)
  t.is(valueAt(reply.json, 'content.0.text'), 'You said: hello there')
})

test('bedrock: the address of an inference profile is a model as well', async (t) => {
  const profile = 'arn:aws:bedrock:eu-central-1:123456789012:application-inference-profile/a(b)*c'
  const reply = await send(gateway.url, { body: ask('hi', { model: `bedrock/${profile}`, stream: true }) })
  t.is(reply.status, 200, reply.text)
  t.regex(reply.text, /^event: message_start\n/)
})

test('bedrock: only the model, the stream flag and the version differ from the client’s text', async (t) => {
  const { model, send, seen } = scenario()
  const odd =
    '"messages" : [ {"role":"user","content":"\\u0041 \u{1f600}","x":1.0} ],\n "9":9007199254740993 , "1" : null'
  const reply = await send({ body: `{"model":"bedrock/${model}", "max_tokens":100, "stream" : false, ${odd} }` })
  t.is(reply.status, 200, reply.text)
  const expected = `{"max_tokens":100, ${odd},"anthropic_version":"bedrock-2023-05-31" }`
  t.is(differenceOf(seen()[0]?.raw, expected), undefined)
})

test('bedrock: a Responses client’s search of the web, which this cloud does not have, is dropped', async (t) => {
  const model = 'eu.anthropic.claude-sonnet-4-5-v1:0'
  const tools = [{ type: 'function', name: 'f' }, { type: 'web_search' }]
  const body = { model: `bedrock/${model}`, input: 'hi', tools, tool_choice: 'auto' }
  const reply = await send(gateway.url, { path: '/v1/responses', body })
  t.is(reply.status, 200, reply.text)
  t.like(signed.seenOf(model)[0]?.json, { tools: { length: 1, 0: { name: 'f' } }, tool_choice: { type: 'auto' } })
  t.regex(String(reply.headers['x-svc-dropped']), /tools\.web_search/)
  t.is((await send(gateway.url, { path: '/v1/responses', body: { ...body, tools: tools.slice(1) } })).status, 200)
  t.false(['tools', 'tool_choice'].some((name) => Object.hasOwn(signed.seenOf(model)[1]?.json ?? {}, name)))
})

test('bedrock: a JSON reply reaches the client byte for byte', async (t) => {
  const body = '\n{"id":"msg_bdrk_1","usage":{"output_tokens":1.0,"2":0,"1":9007199254740993},\t"type":"message"}  \n'
  const { send } = scenario({ kind: 'reply', body, writes: { sizes: [3, 1] } })
  t.is((await send()).text, body)
})

test('bedrock: the events of a stream reach the client byte for byte, however the frames are cut', async (t) => {
  const events = [
    '{"type":"message_start","message":{"id":"msg_bdrk_1","usage":{"input_tokens":1.0}}}',
    '{"index":0,"type":"content_block_delta","delta":{"type":"text_delta","text":"\\u00e9 \u{1f600}"}}',
    '{"type":"message_stop","amazon-bedrock-invocationMetrics":{"inputTokenCount":1,"firstByteLatency":2e2}}',
  ]
  const frames = Buffer.concat(events.map((event, nth) => chunkFrame(event, nth)))
  const names = ['message_start', 'content_block_delta', 'message_stop']
  const expected = events.map((event, nth) => `event: ${names[nth]}\ndata: ${event}\n\n`).join('')
  for (const sizes of [[1], [7, 300, 2], [100_000]]) {
    const { send } = scenario({ kind: 'reply', headers: FRAMES, body: frames, writes: { sizes } })
    const reply = await send({}, { stream: true })
    t.is(reply.text, expected)
    t.true(reply.endedCleanly)
    t.regex(String(reply.headers['content-type']), /^text\/event-stream/)
  }
})

const found = loadRecordings()
test('bedrock: recorded streams of Claude reach the client byte for byte', async (t) => {
  if (found.absent !== undefined) t.log(found.absent)
  for (const { name, response } of found.items.filter(({ response }) => response.isStream && response.status === 200)) {
    const { send } = scenario({ kind: 'sse', bytes: response.bytes, writes: { sizes: [1000, 1, 333] } })
    const reply = await send({}, { stream: true })
    t.is(differenceOf(reply.body, response.bytes), undefined, name)
  }
  t.pass()
})

test('bedrock: betas are sent in the body; those of the client itself are dropped, and the reply reports it', async (t) => {
  const { send, seen } = scenario()
  const headers = { 'anthropic-beta': 'claude-code-20250219, context-1m-2025-08-07,interleaved-thinking-2025-05-14' }
  const reply = await send({ headers })
  t.is(reply.status, 200, reply.text)
  t.deepEqual(seen()[0]?.json?.anthropic_beta, ['context-1m-2025-08-07', 'interleaved-thinking-2025-05-14'])
  t.is(reply.headers['x-svc-dropped'], 'anthropic-beta.claude-code-20250219')
})

test('bedrock: an API key of the service is shown as a bearer, and nothing is signed', async (t) => {
  const body = ask('hi', { model: 'bedrock/anthropic.claude-keyed', stream: true })
  const reply = await send(keyGateway.url, { body })
  t.is(reply.status, 200, reply.text)
  t.regex(reply.text, /^event: message_start\n/)
  t.is(keyed.seen.at(-1)?.headers['x-amz-date'], undefined)
})

test('bedrock: keys of a profile are found by the chain of credentials', async (t) => {
  const body = ask('hi', { model: 'bedrock/anthropic.claude-profile' })
  const reply = await send(profileGateway.url, { body })
  t.is(reply.status, 200, reply.text)
})

test('bedrock: without any credential it is not configured, and the error names the setting', async (t) => {
  const body = ask('hi', { model: 'bedrock/anthropic.claude-bare' })
  const reply = await send(bareGateway.url, { body })
  t.is(reply.status, 401)
  t.regex(
    String(valueAt(reply.json, 'error.message')),
    /No credential for provider bedrock: set AWS_BEARER_TOKEN_BEDROCK/,
  )
  t.regex(bareGateway.log(), /provider_credential.missing/)
})

test('bedrock: a refusal of the service becomes an error of the Messages shape', async (t) => {
  const { send } = scenario({
    kind: 'error',
    status: 429,
    message: 'Too many tokens, please wait before trying again.',
  })
  const reply = await send()
  t.is(reply.status, 429)
  t.deepEqual(valueAt(reply.json, 'error'), {
    type: 'rate_limit_error',
    message: 'Too many tokens, please wait before trying again.',
  })
  const missing = await send({ body: ask('hi', { model: 'bedrock/missing' }) })
  t.is(missing.status, 404)
  t.is(valueAt(missing.json, 'error.type'), 'not_found_error')
})

test('bedrock: a server error and a short throttling are tried again with the same body', async (t) => {
  const throttled: Script = { kind: 'error', status: 429, headers: { 'retry-after': '0' } }
  const { send, seen } = scenario((nth) => [{ kind: 'error', status: 500 } as Script, throttled][nth - 1])
  const reply = await send()
  t.is(reply.status, 200, reply.text)
  t.is(seen().length, 2 + 1)
  t.deepEqual(seen()[0]?.raw, seen()[2]?.raw)
})

test('bedrock: a stream that is cut ends with an error event behind the last whole event', async (t) => {
  const start = chunkFrame('{"type":"message_start","message":{}}')
  const body = Buffer.concat([start, chunkFrame('{"type":"ping"}')])
  for (const script of [
    { kind: 'reply', headers: FRAMES, body, cutAfterBytes: start.length + 20 },
    { kind: 'reply', headers: FRAMES, body: body.subarray(0, start.length + 20) },
    { kind: 'reply', headers: FRAMES, body: start },
  ] satisfies Script[]) {
    const reply = await scenario(script).send({}, { stream: true })
    t.regex(
      reply.text,
      /^event: message_start\ndata: \{"type":"message_start","message":\{\}\}\n\nevent: error\ndata: [^\n]*\n\n$/,
    )
  }
})

test('bedrock: an exception within a stream is the last event, and an error of the Messages shape', async (t) => {
  const frames = [
    chunkFrame('{"type":"message_start","message":{}}'),
    exceptionFrame('throttlingException', 'Slow down'),
  ]
  const reply = await scenario({ kind: 'reply', headers: FRAMES, body: Buffer.concat(frames) }).send(
    {},
    { stream: true },
  )
  const error = { type: 'error', error: { type: 'rate_limit_error', message: 'Slow down' } }
  t.true(reply.text.endsWith(`\n\nevent: error\ndata: ${JSON.stringify(error)}\n\n`), reply.text)
  t.is(reply.text.match(/event: error/g)?.length, 1)
})

test('bedrock: a damaged frame ends the stream with an error event and lets the connection go', async (t) => {
  const damaged = chunkFrame('{"type":"ping"}')
  damaged.writeUInt8(damaged.readUInt8(40) ^ 1, 40)
  const body = Buffer.concat([
    chunkFrame('{"type":"message_start","message":{}}'),
    damaged,
    chunkFrame('{"type":"message_stop"}'),
  ])
  const { send, seen } = scenario({
    kind: 'reply',
    headers: FRAMES,
    body,
    writes: { sizes: [100], between: { delayMs: 5 } },
  })
  const reply = await send({}, { stream: true })
  t.regex(reply.text, /^event: message_start[^\n]*\n[^\n]*\n\nevent: error\n[^\n]*\n\n$/)
  await signed.until(() => seen().every(({ ended }) => ended !== 'open'))
})

test('bedrock: tokens are counted for the model behind an inference profile', async (t) => {
  const body = { model: 'bedrock/us.anthropic.counted', messages: [{ role: 'user', content: 'hello' }] }
  const reply = await send(gateway.url, { path: '/v1/messages/count_tokens', body })
  t.is(reply.status, 200, reply.text)
  t.deepEqual(Object.keys(reply.json as object), ['input_tokens'])
  t.is(signed.seenOf('anthropic.counted')[0]?.url, '/private/model/anthropic.counted/count-tokens')
})

test('bedrock: the model list has the operator’s names', async (t) => {
  const reply = await send(gateway.url, { method: 'GET', path: '/v1/models' })
  t.is(reply.status, 200, reply.text)
  t.regex(reply.text, /"bedrock\/anthropic\.claude-x-v1:0"/)
})

for (const stream of [false, true]) {
  test(`bedrock: a chat completions client is answered in its own shape (stream: ${stream})`, async (t) => {
    const { model, send } = scenario()
    const body = { model: `bedrock/${model}`, stream, messages: [{ role: 'user', content: 'hello' }] }
    const reply = await send({ path: '/v1/chat/completions', body })
    t.is(reply.status, 200, reply.text)
    if (stream) t.regex(reply.text, /"finish_reason":"stop"[\s\S]*data: \[DONE\]\n\n$/)
    else t.is(valueAt(reply.json, 'choices.0.message.content'), 'You said: hello')
  })
}
