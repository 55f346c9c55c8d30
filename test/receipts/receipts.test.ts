import { createHash } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import { parsePublicKeys } from '../../src/journal/receipts/public-key.ts'
import { verifyReceipt } from '../../src/journal/receipts/verify.ts'
import { sendChat } from '../support/door.ts'
import { eventually } from '../support/eventually.ts'
import { ask, type Reply, send } from '../support/http-client.ts'
import { isJsonObject, type JsonObject, valueAt } from '../support/json.ts'
import { createPluginDirectory, pluginSource } from '../support/plugin-folders.ts'
import { toMessage } from '../support/provider/answers.ts'
import { toEvents, toSse } from '../support/provider/message-events.ts'
import { holdEvent } from '../support/provider/script.ts'
import { MODELS, openProviderFixture } from '../support/provider-fixture.ts'

// Hooks may be declared only after the last wait of the file's top.
const cleanUps: (() => void)[] = []
const plugins = createPluginDirectory(
  { teardown: (remove) => void cleanUps.push(remove) },
  {
    'shorten/index.ts': pluginSource('shorten', {
      run: `exchange.edit({ op: 'replace', path: ['messages', 0, 'content'], value: 'short' }); await next()`,
    }),
    'koan/index.ts': pluginSource('koan', { run: `ctx.body = { said: 'in Koa’s own way' }` }),
    'deny/index.ts': pluginSource('deny', {
      onError: 'refuse',
      run: `throw new GatewayError('permission_error', 'Not you.')`,
    }),
  },
)

const fixture = await openProviderFixture({
  config: {
    models: { either: [MODELS.openai, MODELS.anthropic] },
    plugins: { watch: false, dirs: [plugins.path] },
    providers: { tries: 1 },
    server: { ping_interval: '100ms' },
  },
})
const keys = parsePublicKeys((await get('/.well-known/turnpike-keys')).text)
test.after.always(async () => {
  await fixture.close()
  for (const cleanUp of cleanUps) cleanUp()
})

function get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Reply> {
  return send(fixture.gateway.url, { method: 'GET', path, headers })
}

/** Returns the receipt that a reply names, which must be of these bytes. */
async function receiptOf(t: ExecutionContext, reply: Pick<Reply, 'headers' | 'body'>): Promise<JsonObject> {
  const receipt = await genuineReceipt(t, reply)
  t.is(valueAt(receipt, 'reply_sha256'), createHash('sha256').update(reply.body).digest('hex'))
  t.is(valueAt(receipt, 'reply_bytes'), reply.body.length)
  return receipt
}

/** Waits for the receipt that a reply names, which must be genuine. */
async function genuineReceipt(t: ExecutionContext, { headers }: Pick<Reply, 'headers'>): Promise<JsonObject> {
  const id = String(headers['x-svc-receipt'])
  let found: Reply | undefined
  await eventually(async () => {
    found = await get(`/v1/receipts/${id}`)
    return found.status === 200
  }, `receipt ${id}`)
  const { text = '', json } = found ?? {}
  t.true(verifyReceipt(text, keys).isValid, text)
  t.is(valueAt(json, 'id'), id)
  return isJsonObject(json) ? json : {}
}

const sha256 = (body: JsonObject) => createHash('sha256').update(JSON.stringify(body)).digest('hex')

for (const stream of [false, true]) {
  const form = stream ? 'stream' : 'JSON reply'

  test(`receipts: a ${form} has one of its request, its bytes, its usage and its cost`, async (t) => {
    const body = ask('one of a kind', { stream })
    const receipt = await receiptOf(t, await fixture.scenario().send({ body }))
    t.like(receipt, {
      v: 2,
      route: 'messages',
      dialect: 'messages',
      stream,
      status: 200,
      model_asked: 'claude-sonnet-4-5',
      model_served: 'claude-sonnet-4-5',
      provider: 'anthropic',
      pipeline: 'none',
      steps: [],
      outcome: 'complete',
      request_sha256: sha256(body),
    })
    const { input_tokens: input, output_tokens: output } = receipt.usage as Record<string, number>
    const usd = ((input! * 3000 + output! * 15000) / 1e9).toFixed(9)
    t.deepEqual(receipt.cost, { provider_usd: usd, price_source: 'catalogue', matched: 'anthropic/claude-sonnet-4-5' })
    t.like(receipt.counterfactual, { usd, basis: 'same' })
  })

  for (const model of [MODELS.openai, MODELS.anthropic, MODELS.gemini]) {
    test(`receipts: a chat client’s ${form} from ${model} has one of the bytes that the client read`, async (t) => {
      const messages = [{ role: 'user', content: 'hello' }]
      const reply = await sendChat(fixture.scenario(), { model, messages, stream })
      t.is(reply.status, 200)
      const receipt = await receiptOf(t, reply)
      t.like(receipt, { route: 'chat', dialect: 'chat', stream, outcome: 'complete', model_asked: model })
      t.is(`${receipt.provider}/${receipt.model_served}`, model)
      t.regex(String(valueAt(receipt, 'cost.provider_usd')), /^0\.0+[1-9]/)
    })
  }

  for (const model of [MODELS.openai, MODELS.anthropic, MODELS.gemini]) {
    test(`receipts: a Responses client’s ${form} from ${model} has one of the bytes that the client read`, async (t) => {
      const reply = await fixture.scenario().send({ path: '/v1/responses', body: { model, input: 'hello', stream } })
      t.is(reply.status, 200)
      const receipt = await receiptOf(t, reply)
      t.like(receipt, { route: 'responses', dialect: 'responses', stream, outcome: 'complete', model_asked: model })
      t.is(`${receipt.provider}/${receipt.model_served}`, model)
      t.regex(String(valueAt(receipt, 'cost.provider_usd')), /^0\.0+[1-9]/)
    })
  }

  test(`receipts: a cache hit (${form}) costs nothing, and would have cost the stored usage`, async (t) => {
    const scenario = fixture.scenario()
    const request = { body: ask(`again ${stream}`, { stream }), headers: { 'x-svc-pipe': 'exact-cache' } }
    const first = await receiptOf(t, await scenario.send(request))
    let second = await scenario.send(request)
    await eventually(async () => {
      second = await scenario.send(request)
      return second.headers['x-svc-cache'] === 'hit'
    }, 'a hit')
    const receipt = await receiptOf(t, second)
    t.like(receipt, { attempts: [], steps: [{ module: 'exact-cache', action: 'hit' }], provider: 'anthropic' })
    t.is(valueAt(receipt, 'cost.provider_usd'), '0.000000000')
    const usd = valueAt(first, 'cost.provider_usd')
    t.like(receipt.counterfactual, { usd, basis: 'cached-reply' })
    t.not(usd, '0.000000000')
    t.not(receipt.id, first.id)
    t.is(valueAt(receipt, 'latency.provider_ms'), undefined)
  })

  test(`receipts: a fallback’s reply (${form}) has the attempts before it`, async (t) => {
    const scenario = fixture.scenario({ openai: { kind: 'error', status: 503 } })
    const receipt = await receiptOf(t, await scenario.send({ body: ask('either', { model: 'either', stream }) }))
    t.like(receipt, { model_asked: 'either', provider: 'anthropic', model_served: 'claude-sonnet-4-5' })
    const attempts = receipt.attempts as JsonObject[]
    t.deepEqual(
      attempts.map(({ provider, outcome }) => `${provider} ${outcome}`),
      ['openai failed', 'anthropic answered'],
    )
  })
}

test('receipts: errors have one each: the provider’s, the gateway’s, a plugin’s', async (t) => {
  const refusing = fixture.scenario({ anthropic: { kind: 'error', status: 400 } })
  const broken = fixture.scenario({ anthropic: { kind: 'error', status: 529 } })
  const refused = await receiptOf(t, await refusing.send({ body: ask('no') }))
  const failed = await receiptOf(t, await broken.send({ body: ask('no') }))
  const denied = await receiptOf(
    t,
    await fixture.scenario().send({ body: ask('no'), headers: { 'x-svc-pipe': 'deny' } }),
  )
  t.deepEqual(
    [refused, failed, denied].map(({ status, outcome }) => `${status} ${outcome}`),
    ['400 error', '502 error', '403 error'],
  )
  for (const { cost } of [refused, failed, denied]) t.is(valueAt(cost, 'provider_usd'), '0.000000000')
})

test('receipts: a plugin’s reply in Koa’s own way has one of its bytes', async (t) => {
  const reply = await fixture.scenario().send({ body: ask('hm'), headers: { 'x-svc-pipe': 'koan' } })
  t.is(reply.text, '{"said":"in Koa’s own way"}')
  const receipt = await receiptOf(t, reply)
  t.like(receipt, { status: 200, outcome: 'complete', usage: null, pipeline: 'koan' })
})

test('receipts: an edited request has an estimate of its cost without the gateway', async (t) => {
  const body = ask('a question '.repeat(500))
  const receipt = await receiptOf(t, await fixture.scenario().send({ body, headers: { 'x-svc-pipe': 'shorten' } }))
  t.like(receipt, { request_sha256: sha256(body), counterfactual: { basis: 'estimate' } })
  const paid = Number(valueAt(receipt, 'cost.provider_usd'))
  t.true(Number(valueAt(receipt, 'counterfactual.usd')) > paid, JSON.stringify(receipt))
})

/** Returns the counterfactual of a request that is shortened and answered with this usage, and the removed tokens. */
async function shortened(t: ExecutionContext, usage: JsonObject) {
  const scenario = fixture.scenario({ anthropic: { kind: 'answer', text: 'Yes.', usage } })
  const body = ask('a question '.repeat(500))
  const receipt = await receiptOf(t, await scenario.send({ body, headers: { 'x-svc-pipe': 'shorten' } }))
  const counterfactual = valueAt(receipt, 'counterfactual') as Record<string, string>
  const [, before, after] =
    /estimated (\d+) input tokens before, (\d+) after/.exec(counterfactual.explained ?? '') ?? []
  return { receipt, counterfactual, taken: Number(before) - Number(after) }
}

/** Nano-USD a token of the model that is asked. */
const NANO = { fresh: 3000, read: 300, written: 3750 }
const inUsd = (nanoUsd: number) => (nanoUsd / 1e9).toFixed(9)

test('receipts: tokens that an edit took out are worth what this very reply paid for its input', async (t) => {
  const usage = { input_tokens: 50, cache_read_input_tokens: 900, cache_creation_input_tokens: 50, output_tokens: 10 }
  const { receipt, counterfactual, taken } = await shortened(t, usage)
  t.true(taken > 500)
  const [read, written] = [Math.trunc(taken * 0.9), Math.trunc(taken * 0.05)]
  const added = read * NANO.read + written * NANO.written + (taken - read - written) * NANO.fresh
  const paid = Number(String(valueAt(receipt, 'cost.provider_usd')).replace('.', ''))
  t.is(counterfactual.usd, inUsd(paid + added))
  t.is(counterfactual.usd_at_most, undefined)
  t.true(added < (taken * NANO.fresh) / 3, 'nothing like the price of fresh input')
})

test('receipts: a reply that does not report its prompt cache gives a range for an edit’s savings', async (t) => {
  const nothing = { cache_read_input_tokens: null, cache_creation_input_tokens: null, cache_creation: null }
  const { receipt, counterfactual, taken } = await shortened(t, { input_tokens: 50, output_tokens: 10, ...nothing })
  const paid = Number(String(valueAt(receipt, 'cost.provider_usd')).replace('.', ''))
  t.is(counterfactual.usd, inUsd(paid + taken * NANO.read))
  t.is(counterfactual.usd_at_most, inUsd(paid + taken * NANO.fresh))
})

const events = toEvents(toMessage({ body: { max_tokens: 9, messages: [] }, nth: 1 }, { text: 'A few words' }))
const bytes = toSse(events)
const never = new Promise<void>(() => {})

for (const pipe of ['none', 'exact-cache']) {
  test(`receipts: a client that leaves a stream has one of the bytes written until then (${pipe})`, async (t) => {
    const scenario = fixture.scenario({ anthropic: { kind: 'sse', bytes, writes: holdEvent(3, never) } })
    const leaving = new AbortController()
    const end = toSse(events.slice(0, 3)).length
    let received = 0
    const reply = await scenario.send({
      body: ask(`leave ${pipe}`, { stream: true }),
      headers: { 'x-svc-pipe': pipe },
      signal: leaving.signal,
      onChunk: (chunk) => {
        received += chunk.length
        if (received >= end) leaving.abort()
      },
    })
    const receipt = await genuineReceipt(t, reply)
    t.like(receipt, { outcome: 'cancelled', status: 200 })
    // A ping may have been written that the client did not wait for.
    t.true(Number(valueAt(receipt, 'reply_bytes')) >= reply.body.length)
    t.regex(String(valueAt(receipt, 'cost.provider_usd')), /^0\.0+[1-9]/)
  })
}

test('receipts: pings are bytes of the reply too', async (t) => {
  const opened = Promise.withResolvers<void>()
  const scenario = fixture.scenario({ anthropic: { kind: 'sse', bytes, writes: holdEvent(3, opened.promise) } })
  let text = ''
  const onChunk = (chunk: Buffer) => {
    text += chunk
    if (text.includes('event: ping')) opened.resolve()
  }
  const reply = await scenario.send({ body: ask('slow', { stream: true }), onChunk })
  t.regex(reply.text, /event: ping/)
  t.like(await receiptOf(t, reply), { outcome: 'complete' })
})

test('receipts: a stream that breaks has one of its bytes, the error event included', async (t) => {
  const cut = toSse(events.slice(0, 4))
  const scenario = fixture.scenario({ anthropic: { kind: 'sse', bytes: cut } })
  const reply = await scenario.send({ body: ask('broken', { stream: true }) })
  t.regex(reply.text, /event: error/)
  t.like(await receiptOf(t, reply), { outcome: 'incomplete', status: 200 })
})

test('receipts: a client that leaves before the answer has one, of unknown cost', async (t) => {
  const headers = { authorization: 'Bearer one-who-leaves' }
  const scenario = fixture.scenario({ anthropic: { kind: 'hang', at: 'before-headers' } })
  const leaving = new AbortController()
  const reply = scenario.send({ body: ask('never mind'), headers, signal: leaving.signal })
  await eventually(() => scenario.seen('anthropic').length === 1, 'the provider is asked')
  leaving.abort()
  await reply
  let receipt: unknown
  await eventually(async () => {
    receipt = valueAt((await get('/v1/receipts', headers)).json, 'data.0')
    return receipt !== undefined
  }, 'the receipt')
  t.like(receipt, { outcome: 'cancelled', status: null, reply_bytes: 0, cost: { provider_usd: null } })
})

test('receipts: the one of a provider that is such a gateway too is not taken for ours', async (t) => {
  const headers = { 'x-svc-receipt': 'rcpt_theirs' }
  const request = { body: ask('chained'), headers: { 'x-svc-pipe': 'exact-cache' } }
  const scenario = fixture.scenario({ anthropic: { kind: 'answer', headers } })
  for (const _ of ['live', 'stored']) t.is((await receiptOf(t, await scenario.send(request))).provider, 'anthropic')
})

test('receipts: no other caller finds one', async (t) => {
  const reply = await fixture.scenario().send({ body: ask('mine alone') })
  const { id } = await receiptOf(t, reply)
  const other = await get(`/v1/receipts/${id}`, { authorization: 'Bearer another' })
  t.is(other.status, 404)
  t.is(valueAt(other.json, 'error.type'), 'not_found')
  t.is((await get('/v1/receipts/rcpt_nothing')).status, 404)
  const after = await get(`/v1/receipts?after=${id}`, { authorization: 'Bearer another' })
  t.is(after.status, 400)
})

test('receipts: routes require a credential, the keys do not', async (t) => {
  const none = { authorization: '' }
  t.is((await get('/v1/receipts', none)).status, 401)
  t.is((await get('/v1/receipts/rcpt_1', none)).status, 401)
  const { status, headers, json } = await get('/.well-known/turnpike-keys', none)
  t.is(status, 200)
  t.is(headers['cache-control'], 'public, max-age=3600')
  t.like(valueAt(json, 'keys.0'), { kty: 'OKP', crv: 'Ed25519', kid: keys[0]?.id, x: keys[0]?.raw })
})

test('receipts: a list continues after the last one seen, oldest first, and shows whether there are more', async (t) => {
  const headers = { authorization: 'Bearer a-lister' }
  const ids: string[] = []
  for (let i = 0; i < 5; i++) {
    const reply = await fixture.scenario().send({ body: ask(`page ${i}`), headers })
    ids.push(String(reply.headers['x-svc-receipt']))
    const stored = async () => (await idsAt(`/v1/receipts?limit=100`, headers)).length === i + 1
    await eventually(stored, 'the receipt is stored')
  }
  t.deepEqual(await idsAt('/v1/receipts', headers), ids)
  const first = await get('/v1/receipts?limit=2', headers)
  t.is(valueAt(first.json, 'has_more'), true)
  t.deepEqual(await idsAt('/v1/receipts?limit=2', headers), ids.slice(0, 2))
  t.deepEqual(await idsAt(`/v1/receipts?limit=3&after=${ids[1]}`, headers), ids.slice(2))
  t.is(valueAt((await get(`/v1/receipts?limit=3&after=${ids[1]}`, headers)).json, 'has_more'), false)
  t.deepEqual(await idsAt(`/v1/receipts?after=${ids[4]}`, headers), [])
  for (const limit of ['0', '101', 'x', '1.5']) t.is((await get(`/v1/receipts?limit=${limit}`, headers)).status, 400)
})

async function idsAt(path: string, headers: Readonly<Record<string, string>>): Promise<unknown[]> {
  const data = valueAt((await get(path, headers)).json, 'data')
  return Array.isArray(data) ? data.map((each) => valueAt(each, 'id')) : []
}

test('receipts: latency parts add up to no more than the whole', async (t) => {
  const scenario = fixture.scenario({ anthropic: { kind: 'answer', before: { delayMs: 80 } } })
  const { latency } = await receiptOf(
    t,
    await scenario.send({ body: ask('wait'), headers: { 'x-svc-pipe': 'exact-cache' } }),
  )
  const { total_ms: total, gateway_ms: gateway, provider_ms: provider } = latency as Record<string, number>
  // The wait is the provider's: what is left of the whole is the gateway's.
  t.true(provider! >= 75 && gateway! + provider! <= total!, JSON.stringify(latency))
})

test('receipts: they hold no word of prompts, answers and credentials', async (t) => {
  const scenario = fixture.scenario({ anthropic: { kind: 'answer', text: 'a-secret-answer' } })
  const body = ask('a-secret-prompt', { metadata: { user_id: 'a-secret-user' } })
  const headers = { 'x-svc-pipe': 'exact-cache,shorten' }
  const receipt = JSON.stringify(await receiptOf(t, await scenario.send({ body, headers })))
  t.notRegex(receipt, /a-secret|test-key|operator-key/)
})

test('receipts: a request that never became an exchange has none', async (t) => {
  const reply = await fixture.scenario().send({ body: '{' })
  t.is(reply.status, 400)
  t.is(reply.headers['x-svc-receipt'], undefined)
})
