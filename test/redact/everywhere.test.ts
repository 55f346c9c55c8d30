import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test from 'ava'
import { open } from '../responses/socket-client.ts'
import { isDrill } from '../support/drill.ts'
import { eventually } from '../support/eventually.ts'
import { send } from '../support/http-client.ts'
import type { JsonObject } from '../support/json.ts'
import { FULL_PIPELINE } from '../support/pipelines.ts'
import type { SeenRequest } from '../support/provider/journal.ts'
import { MODELS, openProviderFixture, PROVIDERS, type ProviderName } from '../support/provider-fixture.ts'

/*
 * Values are put into every field that a client has, and those of others; then all that has left the gateway, and all that it
 * has written, is searched for them.
 */

const folder = mkdtempSync(path.join(tmpdir(), 'turnpike-redact-'))
const fixture = await openProviderFixture({
  env: { SVC_DATA_DIR: folder, LOG_LEVEL: 'debug', SVC_PIPELINE: FULL_PIPELINE },
  config: { providers: { tries: 1 } },
})
test.after.always(async () => {
  await fixture.close()
  rmSync(folder, { recursive: true, force: true })
})

const CANARY = /canary\d+[@x]|ghp_Canary/i
const TOKEN = 'ghp_CanaryCanaryCanary0123456789Canary01'
let fields = 0
/** One value for each field, so that a leak names it. */
const mail = () => `canary${++fields}@acme-corp.io`
const texts = () => `I am ${mail()}; git push with ${TOKEN}. ${'Words and words. '.repeat(40)}`
const schema = () => ({
  type: 'object',
  description: mail(),
  properties: { to: { type: 'string', enum: [mail()], default: mail(), [mail()]: mail() } },
})

function messages(): JsonObject {
  const source = (data: string) => ({ type: 'text', media_type: 'text/plain', data })
  const input = () => ({ to: [mail()], [mail()]: mail(), card: 4111111111111111, deep: [{ token: TOKEN }] })
  return {
    max_tokens: 1000,
    system: [{ type: 'text', text: texts(), cache_control: { type: 'ephemeral' } }],
    metadata: { user_id: mail(), [mail()]: mail() },
    stop_sequences: [mail()],
    unknown: { deep: [mail()] },
    tools: [{ name: 'send', description: texts(), input_schema: schema(), input_examples: [{ to: mail() }] }],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'document', title: mail(), context: mail(), source: source(texts()) },
          { type: 'text', text: texts(), unknown: mail() },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: texts() },
          { type: 'tool_use', id: 'toolu_1', name: 'send', input: input() },
          { type: 'tool_use', id: 'toolu_2', name: 'send', input: input() },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'toolu_1', content: `${texts()}\n`.repeat(100) },
          { type: 'tool_result', tool_use_id: 'toolu_2', is_error: true, content: [{ type: 'text', text: texts() }] },
          { type: 'text', text: texts() },
        ],
      },
    ],
  }
}

function chat(): JsonObject {
  const json = JSON.stringify({ to: [mail()], [mail()]: 'x' })
  return {
    user: mail(),
    stop: [mail()],
    metadata: { note: mail() },
    prediction: { type: 'content', content: mail() },
    tools: [{ type: 'function', function: { name: 'send', description: texts(), parameters: schema() } }],
    messages: [
      { role: 'system', content: texts() },
      { role: 'user', content: [{ type: 'text', text: texts() }] },
      {
        role: 'assistant',
        content: texts(),
        refusal: null,
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'send', arguments: json } }],
      },
      { role: 'tool', tool_call_id: 'call_1', content: texts() },
      { role: 'user', content: texts() },
    ],
  }
}

function responses(): JsonObject {
  const json = JSON.stringify({ to: [mail()] })
  return {
    instructions: texts(),
    safety_identifier: mail(),
    prompt_cache_key: mail(),
    metadata: { note: mail() },
    tools: [{ type: 'function', name: 'send', description: texts(), parameters: schema(), strict: false }],
    input: [
      { type: 'message', role: 'developer', content: [{ type: 'input_text', text: texts() }] },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: texts() }] },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: texts(), annotations: [] }] },
      { type: 'function_call', call_id: 'call_1', name: 'send', arguments: json },
      { type: 'function_call_output', call_id: 'call_1', output: texts() },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: texts() }] },
    ],
  }
}

const CLIENTS = [
  { path: '/v1/messages', bodyOf: messages },
  { path: '/v1/chat/completions', bodyOf: chat },
  { path: '/v1/responses', bodyOf: responses },
] as const
const TARGETS: readonly ProviderName[] = [...PROVIDERS, 'responder']

/** Repeats all placeholders of the request in the answer. */
const repeating = (_nth: number, { raw }: SeenRequest) => ({
  kind: 'answer' as const,
  text: `Noted ${(raw.toString().match(/REDACTED_[A-Z_]+_[0-9A-Z]{12}/g) ?? []).slice(0, 20).join(', ')}.`,
})
const scripts = Object.fromEntries(TARGETS.map((name) => [name, repeating]))
const receipts: string[] = []
let answered = 0

/** In `npm test` each client and each provider; every pair is in `npm run drill:redact`. */
const isSampled = (client: number, target: number) => isDrill || (client + target) % 2 === 0

for (const [client, { path: route, bodyOf }] of CLIENTS.entries())
  for (const [target, provider] of [...TARGETS.entries()].filter(([target]) => isSampled(client, target)))
    for (const stream of isDrill ? [false, true] : [(target + (target >> 1)) % 2 === 0])
      test.serial(`redact: values in every field of a body: ${route}, ${provider}, stream ${stream}`, async (t) => {
        const scenario = fixture.scenario(scripts)
        const body = { ...bodyOf(), model: MODELS[provider], stream }
        const reply = await scenario.send({ path: route, body })
        if (reply.status === 200) answered++
        t.regex(String(reply.headers['x-svc-redact']), /^mode=redact; /, reply.text)
        const sent = scenario.seen(provider).map(({ raw, url }) => `${url} ${raw}`)
        for (const text of sent) t.notRegex(text, CANARY, CANARY.exec(text)?.[0])
        if (reply.status === 200) t.regex(reply.text, CANARY)
        receipts.push(String(reply.headers['x-svc-receipt']))
      })

test.serial('redact: values in messages of a socket', async (t) => {
  const scenario = fixture.scenario(scripts)
  await using client = await open(fixture.gateway.url, { ...scenario.headers })
  const { input, tools } = responses()
  const events = await client.ask({ type: 'response.create', model: MODELS.responder, input, tools })
  t.is(events.at(-1)?.type, 'response.completed', JSON.stringify(events.at(-1)))
  t.regex(JSON.stringify(events.at(-1)), CANARY)
  for (const { raw } of scenario.seen('responder')) t.notRegex(raw.toString(), CANARY)
})

test.serial('redact: values in requests that are refused, blocked, or fail at the provider', async (t) => {
  const scenario = fixture.scenario({ anthropic: { kind: 'error', status: 500 } })
  const picture = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }
  const body = { ...messages(), model: MODELS.anthropic }
  const replies = [
    await scenario.send({ body }),
    await scenario.send({ body, headers: { 'x-svc-pipe': 'redact?mode=block,exact-cache' } }),
    await scenario.send({
      body: { ...body, messages: [{ role: 'user', content: [picture, { type: 'text', text: mail() }] }] },
    }),
    await scenario.send({ body: { ...body, temperature: 7, top_k: 'x' } }),
  ]
  for (const { status, text, headers } of replies) {
    t.true(status >= 400, `${status}`)
    t.notRegex(text, CANARY)
    if (headers['x-svc-receipt'] !== undefined) receipts.push(String(headers['x-svc-receipt']))
  }
})

test.serial('redact: captures have placeholders, and nothing of the originals', async (t) => {
  t.true(answered >= (isDrill ? 24 : 6), `${answered}`)
  let captured = 0
  for (const id of receipts) {
    const find = () => send(fixture.gateway.url, { method: 'GET', path: `/dashboard/api/requests/${id}` })
    await eventually(async () => (await find()).status === 200, `a row of ${id}`)
    const { text } = await find()
    t.notRegex(text, CANARY, `${id} ${CANARY.exec(text)?.[0]}`)
    if (text.includes('REDACTED_EMAIL_')) captured++
  }
  t.true(captured >= (isDrill ? 24 : 6), `${captured}`)
})

test.serial('redact: nothing that the gateway has written holds an original', async (t) => {
  const metrics = await send(fixture.gateway.url, { method: 'GET', path: '/metrics' })
  t.notRegex(metrics.text, CANARY)
  await fixture.gateway.stop()
  t.notRegex(fixture.gateway.log(), CANARY)
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  t.true(files.length > 2)
  for (const { parentPath, name } of files) {
    const text = readFileSync(path.join(parentPath, name)).toString('latin1')
    t.notRegex(text, CANARY, `${name}: ${CANARY.exec(text)?.[0]}`)
  }
})
