import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test from 'ava'
import { googleAuthorization } from '../../src/providers/vertex/credentials.ts'
import { differenceOf } from '../support/difference.ts'
import { startGateway } from '../support/gateway.ts'
import { ask, type SendOptions, send } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'
import type { Script } from '../support/provider/script.ts'
import { createRecordingLog } from '../support/recording-log.ts'
import { loadRecordings } from '../support/recordings.ts'
import { startVertex } from '../support/stand-in-vertex.ts'

const TOKEN = 'ya29.operator-token'
const MODELS = '/v1/projects/my-project/locations/europe-west1/publishers/anthropic/models'

const folder = await mkdtemp(path.join(tmpdir(), 'turnpike-vertex-'))
const vertex = await startVertex({ token: TOKEN, project: 'my-project', location: 'europe-west1' })
const tokenService = await startTokenService()
const subject = path.join(folder, 'subject')
const credentials = path.join(folder, 'credentials.json')
const withFile = path.join(folder, 'with-file.yaml')
const config = path.join(folder, 'turnpike.yaml')
await Promise.all([
  writeFile(subject, 'subject-token'),
  writeFile(credentials, JSON.stringify(workloadIdentity(tokenService.url, subject))),
  writeFile(withFile, `plugins: { watch: false }\nproviders: { vertex: { credentials_file: ${credentials} } }\n`),
  writeFile(config, 'plugins: { watch: false }\nproviders: { vertex: { models: [claude-x@20990101] } }\n'),
])
const common = {
  SVC_PIPELINE: 'none',
  VERTEX_PROJECT: 'my-project',
  VERTEX_LOCATION: 'europe-west1',
  VERTEX_BASE_URL: vertex.url,
}
const [gateway, fileGateway] = await Promise.all([
  startGateway({ ...common, SVC_CONFIG: config, VERTEX_ACCESS_TOKEN: TOKEN }),
  startGateway({ ...common, SVC_CONFIG: withFile }),
])
const gateways = [gateway, fileGateway]
test.after.always(async () => {
  await Promise.all(gateways.map((one) => one.stop()))
  await Promise.all([vertex.close(), tokenService.close(), rm(folder, { recursive: true, force: true })])
})
test.after('vertex: no credential is in a log', (t) => {
  const logs = gateways.map((one) => one.log()).join('')
  for (const secret of [TOKEN, 'subject-token']) t.false(logs.includes(secret))
  t.notRegex(logs, /unhandled|uncaught/i)
})

/** Starts a service that exchanges a workload's own tokens, as Google's does. */
async function startTokenService() {
  let given = 0
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      given++
      response.setHeader('content-type', 'application/json')
      response.end(
        JSON.stringify({
          access_token: TOKEN,
          issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
          token_type: 'Bearer',
          expires_in: 3600,
        }),
      )
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // safe: it listens on TCP
  const close = () => new Promise((resolve) => server.close(resolve).closeAllConnections())
  return { url: `http://127.0.0.1:${port}/token`, given: () => given, close }
}

function workloadIdentity(tokenUrl: string, file: string) {
  return {
    type: 'external_account',
    audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    token_url: tokenUrl,
    credential_source: { file },
  }
}

let scenarios = 0
/** Creates a model of the test's own, with the script of its requests. */
function scenario(script?: Script | ((nth: number) => Script | undefined)) {
  const model = `claude-scenario-${++scenarios}@20990101`
  vertex.reply(model, typeof script === 'function' ? (_request, nth) => script(nth) : () => script)
  return {
    model,
    seen: () => vertex.seenOf(model),
    send: (options: SendOptions = {}, fields = {}) =>
      send(gateway.url, { body: ask('hello there', { model: `vertex/${model}`, ...fields }), ...options }),
  }
}

test('vertex: a request is answered; its path names project, location, model and method', async (t) => {
  const { model, send, seen } = scenario()
  t.is((await send()).status, 200)
  t.is((await send({}, { stream: true })).status, 200)
  t.deepEqual(
    seen().map(({ url }) => url),
    [`${MODELS}/${model}:rawPredict`, `${MODELS}/${model}:streamRawPredict`],
  )
})

test('vertex: only the model and the version differ from the client’s text', async (t) => {
  const { model, send, seen } = scenario()
  const odd =
    '"messages" : [ {"role":"user","content":"\\u0041 \u{1f600}","x":1.0} ],\n "9":9007199254740993 , "1" : null'
  const reply = await send({ body: `{"max_tokens":100, "stream" : true, "model":"vertex/${model}", ${odd} }` })
  t.is(reply.status, 200, reply.text)
  const expected = `{"max_tokens":100, "stream" : true, ${odd},"anthropic_version":"vertex-2023-10-16" }`
  t.is(differenceOf(seen()[0]?.raw, expected), undefined)
})

test('vertex: a JSON reply reaches the client byte for byte', async (t) => {
  const body = '\n{"id":"msg_vrtx_1","usage":{"output_tokens":1.0,"2":0,"1":9007199254740993},\t"type":"message"}  \n'
  t.is((await scenario({ kind: 'reply', body, writes: { sizes: [3, 1] } }).send()).text, body)
})

const found = loadRecordings()
test('vertex: recorded streams of Claude reach the client byte for byte', async (t) => {
  if (found.absent !== undefined) t.log(found.absent)
  for (const { name, response } of found.items.filter(({ response }) => response.isStream && response.status === 200)) {
    const { send } = scenario({ kind: 'sse', bytes: response.bytes, writes: { sizes: [1000, 1, 333] } })
    t.is(differenceOf((await send({}, { stream: true })).body, response.bytes), undefined, name)
  }
  t.pass()
})

test('vertex: betas are sent in the header; those of the client itself are dropped, and the reply reports it', async (t) => {
  const { send, seen } = scenario()
  const reply = await send({ headers: { 'provider-beta': 'oauth-2025-04-20,context-1m-2025-08-07' } })
  t.is(reply.status, 200, reply.text)
  t.is(seen()[0]?.headers['anthropic-beta'], 'context-1m-2025-08-07')
  t.is(reply.headers['x-svc-dropped'], 'anthropic-beta.oauth-2025-04-20')
})

test('vertex: a token is asked for with the credentials of a file, once for many requests', async (t) => {
  const body = ask('hi', { model: 'vertex/claude-with-file' })
  const replies = await Promise.all([1, 2, 3].map(() => send(fileGateway.url, { body })))
  for (const reply of replies) t.is(reply.status, 200, reply.text)
  t.is(tokenService.given(), 1)
})

test('vertex: credentials that appear after the start are found', async (t) => {
  const service = await startTokenService()
  t.teardown(service.close)
  const file = path.join(folder, 'later.json')
  const log = createRecordingLog()
  const options = { credentialsFile: file, proxy: undefined, noProxy: undefined, log }
  const { headers } = await googleAuthorization(options)
  const { signal } = new AbortController()
  t.like(await t.throwsAsync(headers(signal)), { code: 'authentication_error' })
  await writeFile(file, JSON.stringify(workloadIdentity(service.url, subject)))
  t.deepEqual(await headers(signal), ['authorization', `Bearer ${TOKEN}`])
})

test('vertex: a refusal of the platform becomes an error of the Messages shape', async (t) => {
  const { send } = scenario({ kind: 'error', status: 429, message: 'Quota exceeded for online_prediction_requests.' })
  const reply = await send({}, { stream: true })
  t.is(reply.status, 429)
  t.deepEqual(valueAt(reply.json, 'error'), {
    type: 'rate_limit_error',
    message: 'Quota exceeded for online_prediction_requests.',
  })
  const missing = await send({ body: ask('hi', { model: 'vertex/missing' }) })
  t.is(missing.status, 404)
  t.is(valueAt(missing.json, 'error.type'), 'not_found_error')
})

test('vertex: an error of the model itself reaches the client as it is', async (t) => {
  const body =
    '{"type":"error", "error":{"type":"invalid_request_error","message":"max_tokens: 1 > 0"},"request_id":"req_vrtx_1"}'
  const reply = await scenario({ kind: 'reply', status: 400, body }).send()
  t.is(reply.status, 400)
  t.is(reply.text, body)
})

test('vertex: a server error is tried again with the same body', async (t) => {
  const { send, seen } = scenario((nth) => (nth < 3 ? { kind: 'error', status: 503 } : undefined))
  const reply = await send()
  t.is(reply.status, 200, reply.text)
  t.is(seen().length, 3)
  t.deepEqual(seen()[0]?.raw, seen()[2]?.raw)
})

test('vertex: a stream that is cut ends with an error event', async (t) => {
  const reply = await scenario({ kind: 'answer', cutAfterBytes: 700 }).send({}, { stream: true })
  t.regex(reply.text, /^event: message_start\n/)
  t.regex(reply.text, /\n\nevent: error\ndata: [^\n]*\n\n$/)
})

test('vertex: tokens are counted for the model in the body', async (t) => {
  const body = { model: 'vertex/claude-counted', messages: [{ role: 'user', content: 'hello' }] }
  const reply = await send(gateway.url, { path: '/v1/messages/count_tokens', body })
  t.is(reply.status, 200, reply.text)
  t.deepEqual(Object.keys(reply.json as object), ['input_tokens'])
  const seen = vertex.seen.find(({ json }) => json?.model === 'claude-counted')
  t.is(seen?.url, `${MODELS}/count-tokens:rawPredict`)
})

test('vertex: the model list has the operator’s names', async (t) => {
  const reply = await send(gateway.url, { method: 'GET', path: '/v1/models' })
  t.regex(reply.text, /"vertex\/claude-x@20990101"/)
})

for (const stream of [false, true]) {
  test(`vertex: a chat completions client is answered in its own shape (stream: ${stream})`, async (t) => {
    const { model, send } = scenario()
    const body = { model: `vertex/${model}`, stream, messages: [{ role: 'user', content: 'hello' }] }
    const reply = await send({ path: '/v1/chat/completions', body })
    t.is(reply.status, 200, reply.text)
    if (stream) t.regex(reply.text, /"finish_reason":"stop"[\s\S]*data: \[DONE\]\n\n$/)
    else t.is(valueAt(reply.json, 'choices.0.message.content'), 'You said: hello')
  })
}
