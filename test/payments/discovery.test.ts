import { createHash } from 'node:crypto'
import test from 'ava'
import { openFixture } from '../support/fixture.ts'
import { ask, send } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'
import { PIPELINE } from '../support/pipelines.ts'
import { AGENT, openAgentFixture, receiptOf } from './agent-fixture.ts'

const [agentFixture, plain, unready] = await Promise.all([
  openAgentFixture(),
  openFixture({ env: { SVC_PIPELINE: PIPELINE } }),
  openFixture({
    env: { SVC_PIPELINE: PIPELINE, SVC_MPP: 'on', SVC_MPP_SECRET: 's'.repeat(40), SVC_MPP_REALM: 'gw.test' },
  }),
])
test.after.always(() => Promise.all([agentFixture.close(), plain.close(), unready.close()]))

const get = (url: string, where: string) =>
  send(url, { method: 'GET', path: where, headers: { authorization: undefined } })

test('discovery: has exactly the members of the specification', async (t) => {
  const reply = await get(agentFixture.url, '/.well-known/mpp')
  t.is(reply.status, 200)
  t.deepEqual(reply.json, {
    spec_version: '0.1',
    realm: 'gw.test',
    payment_methods: [{ method: 'stripe', wallet_provider: 'link', currency: 'usd', status: 'test_mode' }],
    routes: [{ path: AGENT, method: 'POST', price_usd_per_call: 0.5, category: 'llm-generation' }],
    capabilities: {
      idempotency: true,
      refunds: false,
      receipts: 'header',
      content_digest: 'sha-256',
      ledger_public: true,
    },
    terms: valueAt(reply.json, 'terms'),
  })
})

test('discovery: the document and the quote explain disconnected calls and stored replies', async (t) => {
  const { json } = await get(agentFixture.url, '/.well-known/mpp')
  const terms = { left_calls_given_back: 2, cached_session_calls: 'not_counted' }
  t.like(valueAt(json, 'terms'), terms)
  t.regex(String(valueAt(json, 'terms.description')), /count as delivered.*cache/)
  const quote = await send(agentFixture.url, {
    path: '/v1/agent/quote',
    body: ask('x'),
    headers: { authorization: undefined },
  })
  t.deepEqual(valueAt(quote.json, 'terms'), valueAt(json, 'terms'))
})

test('discovery: where it is off, there is nothing', async (t) => {
  const url = plain.gateway.url
  for (const where of ['/.well-known/mpp', '/v1/agent/ledger']) t.is((await get(url, where)).status, 404)
  for (const where of [AGENT, '/v1/agent/quote']) {
    const reply = await send(url, { path: where, body: ask('x') })
    t.is(reply.status, 404)
    t.is(valueAt(reply.json, 'error.type'), 'not_found')
  }
  const openapi = (await get(url, '/openapi.json')).json
  t.false(AGENT in (valueAt(openapi, 'paths') as object))
})

test('discovery: without Stripe it reports that nothing can be paid', async (t) => {
  const url = unready.gateway.url
  const reply = await get(url, '/.well-known/mpp')
  t.is(valueAt(reply.json, 'payment_methods.0.status'), 'not_configured')
  t.is((await send(url, { path: AGENT, body: ask('x') })).status, 404)
})

test('quote: returns price, digest and limits, and stores nothing', async (t) => {
  const body = JSON.stringify(ask('what is the toll', { max_tokens: 60_000 }))
  const reply = await send(agentFixture.url, { path: '/v1/agent/quote', body, headers: { authorization: undefined } })
  t.is(reply.status, 200, reply.text)
  t.like(reply.json, {
    object: 'quote',
    resource: AGENT,
    digest: `sha-256=:${createHash('sha256').update(body).digest('base64')}:`,
    is_covered: false,
    covers_provider_usd: 0.5,
  })
  t.deepEqual(valueAt(reply.json, 'offers.0'), {
    intent: 'charge',
    method: 'stripe',
    amount: '50',
    currency: 'usd',
    price_usd_per_call: 0.5,
  })
  const most = Number(valueAt(reply.json, 'max_tokens'))
  const fits = await send(agentFixture.url, { path: AGENT, body: ask('what is the toll', { max_tokens: most }) })
  t.is(fits.status, 402)
  t.is((await send(agentFixture.url, { path: '/v1/agent/quote', body: { nope: 1 } })).status, 400)
})

test('ledger: lists settled payments, newest first, in pages, without payers', async (t) => {
  const agent = agentFixture.agent()
  const references: string[] = []
  for (let i = 0; i < 3; i++) {
    const body = ask(`ledger ${i}`)
    const reply = await agent.pay(body, await agent.ask(body), agent.grant())
    references.unshift(
      createHash('sha256')
        .update(String(receiptOf(reply)?.reference))
        .digest('hex'),
    )
  }
  const seen: unknown[] = []
  let cursor: unknown = ''
  for (let page = 0; page < 10 && cursor !== null; page++) {
    const after = cursor === '' ? '' : `&cursor=${cursor}`
    const { json } = await get(agentFixture.url, `/v1/agent/ledger?limit=2${after}`)
    const data = valueAt(json, 'data') as object[]
    t.true(data.length <= 2)
    seen.push(...data)
    cursor = valueAt(json, 'next_cursor')
  }
  t.deepEqual(
    seen.map((entry) => valueAt(entry, 'reference_sha256')),
    references,
  )
  t.deepEqual(Object.keys(seen[0] as object).sort(), [
    'amount',
    'currency',
    'method',
    'model',
    'reference_sha256',
    'route',
    'settled_at',
    'status',
  ])
  t.like(seen[0], { amount: '50', currency: 'usd', status: 'delivered', model: 'claude-sonnet-4-5' })
  for (const wrong of ['limit=0', 'limit=101', 'limit=x', 'cursor=x', 'cursor=1.short'])
    t.is((await get(agentFixture.url, `/v1/agent/ledger?${wrong}`)).status, 400)
})

test('openapi: shows the price of a paid call', async (t) => {
  const { json } = await get(agentFixture.url, '/openapi.json')
  t.is(valueAt(json, 'openapi'), '3.1.0')
  const paths = valueAt(json, 'paths') as Record<string, object>
  t.deepEqual(valueAt(paths[AGENT], 'post.x-payment-info'), {
    offers: [{ intent: 'charge', method: 'stripe', amount: '50', currency: 'usd' }],
  })
  t.truthy(valueAt(paths[AGENT], 'post.responses.402'))
})

test('openapi: names for operations are all different', async (t) => {
  const { json } = await get(agentFixture.url, '/openapi.json')
  const operations = Object.values(valueAt(json, 'paths') as object).flatMap((path: object) => Object.values(path))
  const names = operations.map(({ operationId }: { operationId: string }) => operationId)
  t.true(names.length > 10)
  t.is(new Set(names).size, names.length)
})

test('llms.txt: explains how to pay', async (t) => {
  const { status, text, headers } = await get(agentFixture.url, '/llms.txt')
  t.is(status, 200)
  t.regex(String(headers['content-type']), /^text\/plain/)
  t.regex(text, /0\.50 USD/)
})
