import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { agentFixtureEnvironment } from '../payments/agent-fixture.ts'
import { isDrill } from '../support/drill.ts'
import { eventually } from '../support/eventually.ts'
import { startGateway } from '../support/gateway.ts'
import { createHostileRequest, type HostileDialect } from '../support/hostile-requests.ts'
import { type Reply, send } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'
import { readOwn } from '../support/own-reading.ts'
import { guardedBy } from '../support/pipelines.ts'
import { bookOf, usageOf } from '../support/price-usage.ts'
import type { SeenRequest } from '../support/provider/journal.ts'
import { startOpenAI } from '../support/stand-in-openai.ts'
import { startProvider } from '../support/stand-in-provider.ts'
import { machinePayments } from '../support/stripe/machine-payments.ts'
import { startStripe } from '../support/stripe/stand-in.ts'
import { readSettledHolds, scopeOf, tokenOf } from './cost-fixture.ts'

/*
 * DESIGN. Requests that two readers could understand differently, and providers that bill their own reading of them: what
 * a provider bills is never more than what was held for the request, nor than a cap. `npm run drill:readings` sends 10,000
 * by each route.
 */

const REQUESTS = isDrill ? 10_000 : 90
const AT_ONCE = 8
/** One in so many is not twisted at all, for a strict reader takes few of the others. */
const PLAIN = 2
const CAP_USD = 0.02
/** It keeps the thinking of earlier turns. */
const CLAUDE = 'claude-sonnet-4-6'
const GPT = 'gpt-4o'
/** Claude's own tokens for one of o200k. */
const CLAUDE_FACTOR = 1.2
/** Factor on an estimate before money is held for it (`docs/costs.md`, "How exact it is"). */
const MARGIN = 1.3
const MARGIN_TOKENS = 32

const PROSE = 'The keeper of the road counts each carriage, notes the hour, and writes down what was paid for it. '
const CODE =
  'export function toll(carriage: Carriage): number {\n  if (carriage.isEmpty) return 0\n  return 2 * carriage.axles\n}\n'
const LOG = '2026-11-22T09:26:53.589Z [gate] request_id=3f2b8c1e status=200 duration_ms=41 path="/toll/carriages"\n'
const PAYLOADS = [PROSE, CODE, LOG]

const dataDir = await mkdtemp(path.join(tmpdir(), 'turnpike-readings-'))
const stripe = await startStripe({ departments: [machinePayments] })
const anthropic = await startProvider({
  acceptAnything: true,
  script: (request) => {
    const { input, output } = billOf(request, 'messages', CLAUDE_FACTOR)
    return { kind: 'answer', text: 'fine', usage: { input_tokens: input, output_tokens: output } }
  },
})
const openai = await startOpenAI({
  acceptAnything: true,
  script: (request) => {
    const { input, output } = billOf(request, 'chat', 1)
    return { kind: 'answer', text: 'fine', usage: { prompt_tokens: input, completion_tokens: output } }
  },
})
const config = path.join(dataDir, 'turnpike.yaml')
const unlimited = { challenges_per_minute: { per_address: 0, overall: 0 } }
await writeFile(config, JSON.stringify({ plugins: { watch: false }, providers: { tries: 1 }, mpp: unlimited }))
const gateway = await startGateway({
  ANTHROPIC_BASE_URL: anthropic.url,
  ANTHROPIC_API_KEY: 'sk',
  OPENAI_BASE_URL: `${openai.url}/v1`,
  OPENAI_API_KEY: 'sk',
  SVC_DATA_DIR: dataDir,
  SVC_CONFIG: config,
  LOG_LEVEL: 'warn',
  ...agentFixtureEnvironment(stripe),
})
const book = bookOf()
test.after.always(async () => {
  await gateway.stop()
  for (const server of [anthropic, openai, stripe]) await server.close()
  await rm(dataDir, { recursive: true, force: true })
})

function billOf({ raw }: Pick<SeenRequest, 'raw'>, dialect: HostileDialect, factor: number) {
  const { tokens, maxTokens, answers } = readOwn(raw.toString(), dialect)
  return { input: Math.ceil(tokens * factor), output: maxTokens * answers }
}

interface Asked {
  readonly salt: number
  readonly body: string
  readonly reply: Reply
}

/** Sends generated requests, some at once, and judges each reply; how many were answered with 200. */
async function askAll(
  route: { path: string; dialect: HostileDialect; model: string; key?: string },
  judge: (asked: Asked) => void,
): Promise<number> {
  let [next, answered] = [0, 0]
  const client = async () => {
    for (let salt = next++; salt < REQUESTS; salt = next++) {
      const payload = (PAYLOADS[salt % PAYLOADS.length] ?? PROSE).repeat(1 + ((salt * 7) % 90))
      const twisted = salt % PLAIN === 0 ? 0 : 6
      const body = createHostileRequest({ dialect: route.dialect, model: route.model, payload, twisted }, salt)
      const headers = {
        authorization: route.key && `Bearer ${tokenOf(route.key + salt)}`,
        'x-svc-pipe': guardedBy(`per_day=1&per_request=${CAP_USD}`),
      }
      const reply = await send(gateway.url, { path: route.path, headers, body })
      if (reply.status === 200) answered++
      judge({ salt, body, reply })
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, client))
  return answered
}

/** Asserts that no more was billed than held, and no more than the cap. */
async function assertHeld(t: ExecutionContext, key: string, paid: readonly number[]): Promise<void> {
  await eventually(() => readSettledHolds(dataDir) !== undefined, 'all is settled')
  const holds = readSettledHolds(dataDir)
  for (const salt of paid) {
    const [hold, ...more] = holds?.get(scopeOf(key + salt)) ?? []
    t.is(more.length, 0)
    const { costNanoUsd = Infinity, amountNanoUsd = 0 } = hold ?? {}
    t.true(costNanoUsd <= Math.min(amountNanoUsd, CAP_USD * 1e9), `${salt}: ${costNanoUsd} of ${amountNanoUsd}`)
  }
}

for (const [key, route] of [
  ['messages', { path: '/v1/messages', dialect: 'messages', model: CLAUDE }],
  ['chat', { path: '/v1/chat/completions', dialect: 'chat', model: GPT }],
] as const) {
  test.serial(`own reading: a provider bills no more than was held, nor than a cap (${key})`, async (t) => {
    const paid: number[] = []
    const answered = await askAll({ ...route, key }, ({ salt, body, reply: { status, text } }) => {
      t.true([200, 400, 429].includes(status), `${status} ${text} for ${body.slice(0, 2000)}`)
      if (status === 200) paid.push(salt)
    })
    t.log(`${answered} of ${REQUESTS} answered`)
    t.true(answered > REQUESTS / 5)
    await assertHeld(t, key, paid)
  })
}

test.serial('own reading: the worst case of a paid call is no less than a provider’s bill (agent)', async (t) => {
  const target = { provider: 'anthropic', model: CLAUDE }
  const answered = await askAll(
    { path: '/v1/agent/quote', dialect: 'messages', model: CLAUDE },
    ({ salt, body, reply: { status, json, text } }) => {
      if (status !== 200) return t.true([400, 402, 413].includes(status), `${status} ${text}`)
      const { input, output } = billOf({ raw: Buffer.from(body) }, 'messages', CLAUDE_FACTOR)
      const usage = usageOf({ inputTokens: input, outputTokens: output })
      const { costNanoUsd } = book.price(target, usage, Date.now())
      const worstUsd = Number(valueAt(json, 'worst_case_provider_usd'))
      t.true(worstUsd * 1e9 >= costNanoUsd, `${salt}: ${worstUsd} for ${costNanoUsd / 1e9}: ${body.slice(0, 2000)}`)
    },
  )
  t.log(`${answered} of ${REQUESTS} answered`)
  t.true(answered > REQUESTS / 5)
})

test.serial('own reading: an estimated count is within its margin of a provider’s count (count_tokens)', async (t) => {
  const answered = await askAll(
    { path: '/v1/messages/count_tokens', dialect: 'messages', model: `openai/${GPT}`, key: 'count' },
    ({ salt, body, reply: { status, json, text } }) => {
      if (status !== 200) return t.is(status, 400, text)
      const { input } = billOf({ raw: Buffer.from(body) }, 'messages', 1)
      const tokens = Number(valueAt(json, 'input_tokens'))
      t.true(tokens * MARGIN + MARGIN_TOKENS >= input, `${salt}: ${tokens} for ${input}: ${body.slice(0, 2000)}`)
    },
  )
  t.log(`${answered} of ${REQUESTS} answered`)
  t.true(answered > REQUESTS / 5)
})

/** Returns the hold of a request. */
async function heldFor(t: ExecutionContext, key: string, request: { path: string; body: string }): Promise<number> {
  const caller = `${t.title} ${key}`
  const headers = { authorization: `Bearer ${tokenOf(caller)}`, 'x-svc-pipe': guardedBy('per_day=1000') }
  const reply = await send(gateway.url, { ...request, headers })
  t.is(reply.status, 200, reply.text)
  await eventually(() => readSettledHolds(dataDir)?.has(scopeOf(caller)) === true, 'it is settled')
  return readSettledHolds(dataDir)?.get(scopeOf(caller))?.[0]?.amountNanoUsd ?? 0
}

test.serial('own reading: a cache mark is priced however it is written', async (t) => {
  const held = (key: string, mark: string) => {
    const block = `{"type":"text","text":${JSON.stringify(PROSE.repeat(20))},${mark}}`
    const body = `{"model":"${CLAUDE}","max_tokens":64,"messages":[{"role":"user","content":[${block}]}]}`
    return heldFor(t, key, { path: '/v1/messages', body })
  }
  const hour = await held('hour', '"cache_control":{"type":"ephemeral","ttl":"1h"}')
  t.is(await held('escaped', '"cache\\u005fcontrol":{"type":"ephemeral","ttl":"\\u0031h"}'), hour)
  t.true((await held('none', '"citations":[]')) < hour * 0.7)
})

test.serial(
  'own reading: a document by its address is refused however it is written, where a call is paid',
  async (t) => {
    for (const type of ['document', 'docu\\u006dent', '\\u0064ocument']) {
      const source = '{"type":"url","url":"https://example.com/a.pdf"}'
      const content = `[{"type":"${type}","source":${source}}]`
      const body = `{"model":"${CLAUDE}","max_tokens":64,"messages":[{"role":"user","content":${content}}]}`
      const { text } = await send(gateway.url, { path: '/v1/agent/quote', headers: {}, body })
      t.regex(text, /has no bound/, type)
    }
  },
)
