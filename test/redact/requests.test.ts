import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test from 'ava'
import { runCommandInThread } from '../support/command-in-thread.ts'
import { isDrill } from '../support/drill.ts'
import { eventually } from '../support/eventually.ts'
import { type Reply, send } from '../support/http-client.ts'
import type { JsonObject } from '../support/json.ts'
import { MODELS, openProviderFixture, type ProviderName } from '../support/provider-fixture.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'turnpike-redact-'))
const fixture = await openProviderFixture({
  config: {
    pipeline: { default: 'redact', locked: ['redact'] },
    providers: { tries: 1, forward_headers: ['x-claude-code-scenario', 'x-user'] },
  },
})
test.after.always(async () => {
  await fixture.close()
  rmSync(folder, { recursive: true, force: true })
})

const PLACEHOLDER = /REDACTED_[A-Z_]+_[0-9A-Z]{12}/
/** One value for each field, so that a missed field shows its number. */
const mail = (field: number) => `canary${field}@acme-corp.io`
const INVENTED = 'REDACTED_EMAIL_000000000000'
const CANARY = /canary\d+@acme-corp\.io/
const TOKEN = 'ghp_0123456789abcdefghijABCDEFGHIJ012345'

const schema = (field: number) => ({
  type: 'object',
  properties: { to: { type: 'string', description: `such as ${mail(field)}`, default: mail(field + 1) } },
})

const messages: JsonObject = {
  max_tokens: 1000,
  system: [{ type: 'text', text: `You work for ${mail(1)}` }],
  metadata: { user_id: mail(2) },
  stop_sequences: [mail(3)],
  tools: [{ name: 'send', description: `Writes to ${mail(4)}`, input_schema: schema(5) }],
  messages: [
    { role: 'user', content: [{ type: 'text', text: `I am ${mail(7)}; git push with ${TOKEN}` }] },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'send', input: { to: [mail(8)] } }] },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: `sent to ${mail(9)}` }] },
        { type: 'text', text: `And ${mail(10)}?` },
      ],
    },
  ],
}

const chat: JsonObject = {
  user: mail(2),
  stop: [mail(3)],
  tools: [{ type: 'function', function: { name: 'send', description: `Writes to ${mail(4)}`, parameters: schema(5) } }],
  messages: [
    { role: 'system', content: `You work for ${mail(1)}` },
    { role: 'user', content: [{ type: 'text', text: `I am ${mail(7)}; git push with ${TOKEN}` }] },
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        { id: 'call_1', type: 'function', function: { name: 'send', arguments: JSON.stringify({ to: [mail(8)] }) } },
      ],
    },
    { role: 'tool', tool_call_id: 'call_1', content: `sent to ${mail(9)}` },
    { role: 'user', content: `And ${mail(10)}?` },
  ],
}

const responses: JsonObject = {
  instructions: `You work for ${mail(1)}`,
  safety_identifier: mail(2),
  tools: [
    { type: 'function', name: 'send', description: `Writes to ${mail(4)}`, parameters: schema(5), strict: false },
  ],
  input: [
    {
      type: 'message',
      role: 'user',
      content: [{ type: 'input_text', text: `I am ${mail(7)}; git push with ${TOKEN}` }],
    },
    { type: 'function_call', call_id: 'call_1', name: 'send', arguments: JSON.stringify({ to: [mail(8)] }) },
    { type: 'function_call_output', call_id: 'call_1', output: `sent to ${mail(9)}` },
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: `And ${mail(10)}?` }] },
  ],
}

const CLIENTS = [
  { client: 'messages', path: '/v1/messages', body: messages },
  { client: 'chat', path: '/v1/chat/completions', body: chat },
  { client: 'responses', path: '/v1/responses', body: responses },
] as const
const TARGETS: readonly ProviderName[] = ['anthropic', 'openai', 'gemini', 'house', 'responder']

/** The API of Responses has no stop sequences. */
function bodyFor(provider: ProviderName, { stop, stop_sequences, ...body }: JsonObject): JsonObject {
  if (provider === 'responder') return body
  return { ...body, ...(stop !== undefined && { stop }), ...(stop_sequences !== undefined && { stop_sequences }) }
}

/** Answers with the placeholder of the last address. */
function answering(provider: ProviderName) {
  return fixture.scenario({
    [provider]: (_nth: number, request: { raw: Buffer }) => {
      const all = (request.raw.toString().match(new RegExp(PLACEHOLDER, 'g')) ?? []).filter((one) => one !== INVENTED)
      return { kind: 'answer', text: `Ask ${all.at(-1)} or ${INVENTED}.`, writes: { sizes: [7] } }
    },
  })
}

// In `npm test` each pair one way; both are in `npm run drill:redact`.
for (const { client, path: address, body } of CLIENTS)
  for (const provider of TARGETS)
    for (const stream of isDrill ? [false, true] : [TARGETS.indexOf(provider) % 2 === 0])
      test(`redact: no value reaches a provider, and the reply has it again: ${client}, ${provider}, stream ${stream}`, async (t) => {
        const scenario = answering(provider)
        const reply = await scenario.send({
          path: address,
          body: { ...bodyFor(provider, body), model: MODELS[provider], stream },
        })
        t.is(reply.status, 200, reply.text)
        const [seen] = scenario.seen(provider)
        const sent = seen?.raw.toString() ?? ''
        t.false(CANARY.test(sent), CANARY.exec(sent)?.[0])
        t.false(sent.includes(TOKEN))
        t.true(PLACEHOLDER.test(sent), sent)
        const text = stream ? joined(reply.text) : reply.text
        t.regex(text, /Ask canary\d+@acme-corp\.io or REDACTED_EMAIL_000000000000\./)
        t.regex(String(reply.headers['x-svc-redact']), /^mode=redact; .*token=1/)
      })

/** Joins the texts of a stream's deltas. */
function joined(sse: string): string {
  const events = sse.split('\n').flatMap((line) => (line.startsWith('data: {') ? [JSON.parse(line.slice(6))] : []))
  return events
    .map(({ type, delta, choices }) => {
      if (typeof delta === 'string') return type === 'response.output_text.delta' ? delta : ''
      return delta?.text ?? choices?.[0]?.delta?.content ?? ''
    })
    .join('')
}

test('redact: the same conversation has the same placeholders in its next turn', async (t) => {
  const scenario = fixture.scenario()
  const turn = (more: readonly JsonObject[]) => ({
    ...messages,
    model: MODELS.anthropic,
    messages: [...(messages.messages as JsonObject[]), ...more],
  })
  await scenario.send({ body: turn([]) })
  await scenario.send({
    body: turn([
      { role: 'assistant', content: 'Yes.' },
      { role: 'user', content: 'Good.' },
    ]),
  })
  const [first, second] = scenario.seen('anthropic').map(({ json }) => JSON.stringify(json?.messages))
  t.true(second?.startsWith(first?.slice(0, -1) ?? '-'))
})

test('redact: kinds that a later turn adds are found in the long texts of earlier ones', async (t) => {
  const scenario = fixture.scenario()
  const host = 'db-7.internal.acme-corp.local'
  const earlier = [
    { role: 'user', content: `The database is ${host}. ${'It has been slow since. '.repeat(40)}` },
    { role: 'assistant', content: 'Since when?' },
  ]
  const turn = (...words: readonly string[]) => ({
    model: MODELS.anthropic,
    max_tokens: 10,
    messages: [...earlier, ...words.map((content, index) => ({ role: index % 2 ? 'assistant' : 'user', content }))],
  })
  const words = ['Today.', 'I see.', 'Why?', 'A lock.', 'Whose?']
  for (const count of [1, 3]) await scenario.send({ body: turn(...words.slice(0, count)) })
  await scenario.send({ body: turn(...words), headers: { 'x-svc-pipe': 'redact?kinds=host' } })
  const sent = scenario.seen('anthropic').map(({ raw }) => raw.includes(host))
  t.deepEqual(sent, [true, true, false])
})

test('redact: other callers get other placeholders', async (t) => {
  const scenario = fixture.scenario()
  for (const key of ['caller-one-key', 'caller-two-key'])
    await scenario.send({ body: { ...messages, model: MODELS.anthropic }, headers: { 'x-api-key': key } })
  const [one, other] = scenario.seen('anthropic').map(({ raw }) => PLACEHOLDER.exec(raw.toString())?.[0])
  t.truthy(one)
  t.not(one, other)
})

test('redact: a caller can tighten, not relax', async (t) => {
  const scenario = fixture.scenario()
  const body = { ...messages, model: MODELS.anthropic }
  const blocked = await scenario.send({ body, headers: { 'x-svc-pipe': 'redact?mode=block' } })
  t.is(blocked.status, 400)
  t.false(CANARY.test(blocked.text))
  await scenario.send({ body, headers: { 'x-svc-pipe': 'redact?mode=observe' } })
  t.false(CANARY.test(scenario.seen('anthropic')[0]?.raw.toString() ?? ''))
})

function get(address: string): Promise<Reply> {
  return send(fixture.gateway.url, { method: 'GET', path: address })
}

async function receiptOf({ headers }: Reply): Promise<string> {
  let found: Reply | undefined
  await eventually(async () => {
    found = await get(`/v1/receipts/${headers['x-svc-receipt']}`)
    return found.status === 200
  }, 'the receipt')
  return found?.text ?? ''
}

test('redact: the signed receipt has what was read, the mode and the number of values of each kind, and no value', async (t) => {
  const scenario = fixture.scenario()
  const body = { ...messages, model: MODELS.anthropic }
  const text = await receiptOf(await scenario.send({ body }))
  t.false(CANARY.test(text))
  const { steps, counterfactual } = JSON.parse(text)
  const [{ module, action, figures }] = steps
  t.like(counterfactual, { basis: 'estimate' })
  t.regex(counterfactual.explained, /^Plugins replaced texts of the request/)
  t.deepEqual([module, action], ['redact', 'redacted'])
  const { texts, characters, ...rest } = figures
  t.deepEqual(rest, { mode: 'redact', read: 'all', places: 11, email: 10, token: 1 })
  t.true(texts > 10 && characters > 100)

  const file = path.join(folder, 'receipt.json')
  writeFileSync(file, text)
  writeFileSync(`${file}.keys`, (await get('/.well-known/turnpike-keys')).text)
  const { stdout, code } = await runCommandInThread(['receipt', 'verify', file, '--key', `${file}.keys`])
  t.is(code, 0, stdout)
  t.regex(stdout, /redact: redacted; .*email 10.*mode redact.*read all/)

  const source = { type: 'base64', media_type: 'image/png', data: 'AAAA' }
  const picture = { messages: [{ role: 'user', content: [{ type: 'image', source }] }] }
  const refused = await scenario.send({ body: { ...body, ...picture } })
  t.is(refused.status, 400)
  t.like(JSON.parse(await receiptOf(refused)).steps[0].figures, { read: 'part', unread_picture: 1 })

  const many = Array.from({ length: 10_001 }, (_, i) => `a${i}@acme-corp.io`).join(' ')
  const tooMany = await scenario.send({ body: { ...body, messages: [{ role: 'user', content: many }] } })
  t.is(tooMany.status, 400)
  t.like(JSON.parse(await receiptOf(tooMany)).steps[0], {
    action: 'failed',
    figures: { mode: 'redact', read: 'part', unread_rest: 'too_large' },
  })
})

test('redact: a value in a header that a provider would receive refuses the request, in others it does not', async (t) => {
  const scenario = fixture.scenario()
  const body = { ...messages, model: MODELS.anthropic }
  for (const name of ['user-agent', 'anthropic-user', 'x-user']) {
    const reply = await scenario.send({ body, headers: { [name]: mail(1) } })
    t.is(reply.status, 400, name)
    t.regex(reply.text, /1 × header/)
    t.false(CANARY.test(reply.text))
  }
  t.is(scenario.seen('anthropic').length, 0)
  t.is((await scenario.send({ body, headers: { from: mail(1), 'user-agent': 'claude-cli/2.0.1 (cli)' } })).status, 200)
  t.false(CANARY.test(JSON.stringify(scenario.seen('anthropic')[0]?.headers)))
})

test('redact: a request in the background has no value', async (t) => {
  const scenario = fixture.scenario()
  const body = { ...responses, model: MODELS.responder, background: true, store: true }
  const reply = await scenario.send({ path: '/v1/responses', body })
  t.is(reply.status, 200, reply.text)
  const [seen] = scenario.seen('responder')
  t.is(seen?.json?.background, true)
  t.false(CANARY.test(seen?.raw.toString() ?? ''))
})

test('redact: a summary that the gateway has sealed is opened without its values, and restored', async (t) => {
  const scenario = answering('anthropic')
  const said = { type: 'message', role: 'user', content: [{ type: 'input_text', text: `I am ${mail(1)}` }] }
  const compacted = await scenario.send({
    path: '/v1/responses/compact',
    body: { model: MODELS.anthropic, input: [said] },
  })
  t.is(compacted.status, 200, compacted.text)
  // biome-ignore lint/suspicious/noExplicitAny: members of a parsed reply
  const items = (compacted.json as any).output.filter(({ type }: { type: string }) => type.startsWith('compaction'))
  t.is(items.length, 1, compacted.text)
  const next = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Go on.' }] }
  const reply = await scenario.send({
    path: '/v1/responses',
    body: { model: MODELS.anthropic, input: [...items, next] },
  })
  t.is(reply.status, 200, reply.text)
  const sent = scenario.seen('anthropic').map(({ raw }) => raw.toString())
  t.is(sent.length, 2)
  for (const body of sent) t.false(CANARY.test(body), body)
  t.regex(sent[1] ?? '', PLACEHOLDER)
  t.true(reply.text.includes(mail(1)), reply.text)
})

test('redact: thirty turns have one prefix, as without it', async (t) => {
  const scenario = fixture.scenario()
  const turns: JsonObject[] = []
  for (let turn = 0; turn < 30; turn++) {
    const words = 'Words and words. '.repeat(40)
    turns.push({ role: 'user', content: `Turn ${turn}: ${mail(turn)}, ${mail(0)}. ${turn % 3 === 0 ? words : ''}` })
    await scenario.send({ body: { model: MODELS.anthropic, max_tokens: 10, messages: turns } })
    turns.push({ role: 'assistant', content: `Noted ${mail(turn)}.` })
  }
  const bodies = scenario.seen('anthropic').map(({ json }) => JSON.stringify(json?.messages).slice(0, -1))
  t.is(bodies.length, 30)
  for (const [turn, body] of bodies.entries()) if (turn > 0) t.true(body.startsWith(bodies[turn - 1] ?? '-'), `${turn}`)
  t.false(CANARY.test(bodies.join('')))
})
