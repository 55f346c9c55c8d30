import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import test from 'ava'
import { type ExchangeParts, openExchange } from '../../../test/support/exchange.ts'
import { canonicalJson } from '../../core/json/canonical-json.ts'
import type { Prices } from '../../core/money/prices.ts'
import { decimalUsd } from '../../core/money/usd.ts'
import type { TokenCounter } from '../../core/ports/token-counter.ts'
import { BytesReply, jsonReply } from '../../core/reply/reply.ts'
import { readUsage, type Usage } from '../../core/reply/usage.ts'
import type { Exchange } from '../../core/request/exchange.ts'
import type { Receipt } from '../../core/telemetry/receipt.ts'
import { buildReceipt, type ReplyFacts } from './build.ts'

const BODY = '{"model":"claude-x","max_tokens":5,"messages":[{"role":"user","content":"a long question"}]}'
const TARGET = { provider: 'anthropic', model: 'claude-x' }
const USAGE: Usage = readUsage({ input_tokens: 100, output_tokens: 10 })!
const AT_MS = 1_700_000_000_000

/** One nano-dollar per input token, ten per output token. */
const pricer: Pick<Prices, 'price'> = {
  price: ({ model }, { inputTokens, outputTokens }, atMs) => ({
    costNanoUsd: inputTokens + 10 * outputTokens,
    source: atMs === AT_MS ? 'catalogue' : 'ceiling',
    matched: `list/${model}`,
  }),
}
/** One token per byte of the body. */
const tokens: TokenCounter = { inputTokens: ({ bytes }) => bytes.length }

function open(parts: Partial<ExchangeParts> = {}): Exchange {
  return openExchange({ body: BODY, dialect: 'messages', targets: [TARGET], ...parts })
}

function answer(exchange: Exchange, usage: Usage | undefined = USAGE, headers: Record<string, string> = {}): Exchange {
  exchange.reply = new BytesReply(200, headers, Buffer.from('{}'), { usage })
  return exchange
}

function answerLive(exchange: Exchange, usage?: Usage): Exchange {
  exchange.recordCall({ ...TARGET, outcome: 'answered', status: 200 })
  return answer(exchange, usage)
}

function factsFor(exchange: Exchange, facts: Partial<ReplyFacts> = {}): ReplyFacts {
  return {
    id: 'rcpt_1',
    exchange,
    pipeline: 'none',
    status: 200,
    isDelivered: true,
    replySha256: 'f'.repeat(64),
    replyBytes: 2,
    latency: { totalMs: 1.23456, gatewayMs: -1e-9, providerMs: undefined },
    admittedAtMs: AT_MS,
    repliedAtMs: AT_MS,
    ...facts,
  }
}

/** Returns the receipt as it is printed, whose text must be the canonical one. */
async function build(exchange: Exchange, facts: Partial<ReplyFacts> = {}, counter: TokenCounter | undefined = tokens) {
  const how = { pricer, tokens: counter, nowMs: 0, isKept: true }
  const receipt = await buildReceipt(factsFor(exchange, facts), how)
  const text = JSON.stringify(receipt)
  assert.equal(text, canonicalJson(receipt))
  // Safe: it is the receipt's own text.
  return JSON.parse(text) as Receipt
}

test('receipt: a live reply costs its usage, and would have cost the same', async (t) => {
  const { cost, counterfactual, model_served, provider, usage } = await build(answerLive(open()))
  t.deepEqual(cost, { provider_usd: '0.000000200', price_source: 'catalogue', matched: 'list/claude-x' })
  t.like(counterfactual, { usd: '0.000000200', basis: 'same' })
  t.deepEqual([provider, model_served], ['anthropic', 'claude-x'])
  t.like(usage, { input_tokens: 100, output_tokens: 10 })
})

test('receipt: a stored reply costs nothing, and would have cost its usage at its original target', async (t) => {
  const exchange = answer(open(), USAGE, { 'x-svc-model': 'house/org/model-9' })
  const { cost, counterfactual, provider, model_served } = await build(exchange)
  t.deepEqual(cost, { provider_usd: '0.000000000', price_source: 'catalogue', matched: 'list/org/model-9' })
  t.like(counterfactual, { usd: '0.000000200', basis: 'cached-reply' })
  t.deepEqual([provider, model_served], ['house', 'org/model-9'])
})

test('receipt: after an edit the counterfactual is an estimate that states its method', async (t) => {
  const exchange = open()
  exchange.edit({ op: 'replace', path: ['messages', 0, 'content'], value: 'short' })
  const saved = 'a long question'.length - 'short'.length
  const { cost, counterfactual } = await build(answerLive(exchange))
  t.is(cost.provider_usd, '0.000000200')
  t.like(counterfactual, { usd: decimalUsd(200), usd_at_most: decimalUsd(200 + saved), basis: 'estimate' })
  t.regex(counterfactual.explained, new RegExp(`${BODY.length} input tokens before, ${BODY.length - saved} after`))
  const blind = await buildReceipt(await factsOf(exchange), { pricer, tokens: undefined, nowMs: 0, isKept: true })
  t.like(blind.counterfactual, { usd: null, basis: 'estimate' })
  t.is(blind.cost.provider_usd, '0.000000200')
})

test('receipt: after an edit that lengthens the request the bounds of the estimate are in order', async (t) => {
  const exchange = open()
  const added = ' and more'
  exchange.edit({ op: 'replace', path: ['messages', 0, 'content'], value: `a long question${added}` })
  const { counterfactual } = await build(answerLive(exchange))
  t.like(counterfactual, { usd: decimalUsd(200 - added.length), usd_at_most: decimalUsd(200), basis: 'estimate' })
  t.regex(counterfactual.explained, /the bounds price the difference as read from it and as fresh input\.$/)
})

async function factsOf(exchange: Exchange): Promise<ReplyFacts> {
  const latency = { totalMs: 1, gatewayMs: 1, providerMs: undefined }
  const body = { replySha256: '', replyBytes: 0 }
  return {
    id: 'rcpt_1',
    exchange,
    pipeline: 'none',
    status: 200,
    isDelivered: true,
    ...body,
    latency,
    admittedAtMs: AT_MS,
    repliedAtMs: AT_MS,
  }
}

test('receipt: a fallback’s reply is marked as one', async (t) => {
  const exchange = open()
  exchange.recordCall({ provider: 'first', model: 'a', outcome: 'failed', status: undefined })
  const { attempts, provider, counterfactual } = await build(answerLive(exchange))
  t.deepEqual(attempts, [
    { provider: 'first', model: 'a', outcome: 'failed', status: null },
    { provider: 'anthropic', model: 'claude-x', outcome: 'answered', status: 200 },
  ])
  t.is(provider, 'anthropic')
  t.regex(counterfactual.explained, /fallback/)
})

test('receipt: an error costs nothing', async (t) => {
  const failed = open()
  failed.recordCall({ ...TARGET, outcome: 'failed', status: 429 })
  failed.reply = jsonReply({}, { status: 429 })
  const refused = open()
  refused.recordCall({ ...TARGET, outcome: 'answered', status: 400 })
  refused.reply = jsonReply({}, { status: 400 })
  for (const exchange of [failed, refused, open()]) {
    const { outcome, cost, counterfactual } = await build(exchange, { status: exchange.reply?.status ?? 502 })
    t.is(outcome, 'error')
    t.deepEqual(cost, { provider_usd: '0.000000000', price_source: null, matched: null })
    t.like(counterfactual, { usd: '0.000000000', basis: 'same' })
  }
})

test('receipt: the usage of an error is zero when no provider was called, otherwise unknown', async (t) => {
  const failed = open()
  failed.recordCall({ ...TARGET, outcome: 'failed', status: 429 })
  failed.reply = jsonReply({}, { status: 429 })
  t.is((await build(failed, { status: 429 })).usage, null)
  t.like((await build(open(), { status: 429 })).usage, { input_tokens: 0, output_tokens: 0 })
})

test('receipt: an unknown value is null, never 0', async (t) => {
  const left = await build(open(), { status: undefined, isDelivered: false })
  t.like(left, { outcome: 'cancelled', status: null, cost: { provider_usd: null }, counterfactual: { usd: null } })
  const silent = open()
  silent.recordCall({ ...TARGET, outcome: 'answered', status: 200 })
  silent.reply = new BytesReply(200, {}, Buffer.from('{}'))
  t.like(await build(silent), { outcome: 'complete', usage: null, cost: { provider_usd: null } })
  const own = open()
  own.reply = new BytesReply(200, {}, Buffer.from('{}'))
  t.like(await build(own), { cost: { provider_usd: '0.000000000' }, counterfactual: { usd: null } })
})

test('receipt: usage has the members that the price depends on, and only plain words of the provider’s text', async (t) => {
  const usage = readUsage({
    input_tokens: 1,
    output_tokens: 2,
    cache_creation_input_tokens: 7,
    cache_creation: { ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: 4 },
    server_tool_use: { web_search_requests: 5 },
    service_tier: 'priority',
    speed: 'a prompt, perhaps',
  })
  t.deepEqual((await build(answerLive(open(), usage))).usage, {
    input_tokens: 1,
    output_tokens: 2,
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: 7,
    cache_creation: { ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: 4 },
    server_tool_use: { web_search_requests: 5, web_fetch_requests: 0 },
    service_tier: 'priority',
  })
})

test('receipt: its text is canonical with every member that it may have', async (t) => {
  const words = { service_tier: 'priority', inference_geo: 'eu', speed: 'fast' }
  const creation = { ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: 4 }
  const counts = {
    input_tokens: 1,
    output_tokens: 2,
    cache_creation: creation,
    server_tool_use: { web_search_requests: 5 },
  }
  const exchange = open()
  exchange.edit({ op: 'replace', path: ['max_tokens'], value: 6 })
  const trace = { module: 'redact', action: 'masked \u{1f600} \u0007', durationMs: 1, ownCostNanoUsd: 5 }
  exchange.record({ ...trace, figures: { z_last: 1, a_first: 'word', m_middle: 2 } })
  exchange.recordCall({ ...TARGET, outcome: 'failed', status: undefined })
  answerLive(exchange, { ...readUsage({ ...counts, ...words })!, isCounted: true })
  const settlement = { method: 'stripe', challenge_id: 'c', reference: 'r', amount_cents: 1, currency: 'usd' } as const
  const latency = { totalMs: 3, gatewayMs: 1, providerMs: 2 }
  const receipt = await build(exchange, { settlement, latency })
  t.deepEqual(receipt.settlement, settlement)
  t.like(receipt.usage, { ...counts, ...words, cache_creation: creation, counted_by: 'gateway' })
  const [step] = receipt.steps
  t.deepEqual(step?.figures, { z_last: 1, a_first: 'word', m_middle: 2 })
  t.is(step?.own_usd, '0.000000005')
  t.is(receipt.counterfactual.basis, 'estimate')
})

test('receipt: the request’s digest covers the client’s bytes, small or large, edited or not', async (t) => {
  for (const padding of [0, 300_000]) {
    const body = `${BODY}${' '.repeat(padding)}`
    const exchange = open({ body })
    exchange.edit({ op: 'replace', path: ['max_tokens'], value: 6 })
    t.is((await build(exchange)).request_sha256, createHash('sha256').update(body).digest('hex'))
  }
})

test('receipt: names have whole characters and a bounded length, and durations are never negative', async (t) => {
  const body = BODY.replace('claude-x', `\\ud83d${'m'.repeat(1000)}`)
  const { model_asked, latency } = await build(open({ body }))
  t.true(model_asked.isWellFormed())
  t.is(model_asked.length, 300)
  t.deepEqual(latency, { total_ms: 1.235, gateway_ms: 0 })
})

test('receipt: a request whose receipt is not stored is not hashed, and its conversation not recognised', async (t) => {
  const how = { pricer, tokens, nowMs: 0 }
  const facts = factsFor(answerLive(open()))
  t.like(await buildReceipt(facts, { ...how, isKept: false }), { request_sha256: '', conversation_id: '' })
  t.is(
    (await buildReceipt(facts, { ...how, isKept: true })).request_sha256,
    createHash('sha256').update(facts.exchange.original).digest('hex'),
  )
})
