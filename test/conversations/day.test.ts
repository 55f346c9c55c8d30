import test from 'ava'
import { eventually } from '../support/eventually.ts'
import { type Reply, send } from '../support/http-client.ts'
import { isJsonObject, type JsonObject, valueAt } from '../support/json.ts'
import { createBilledCache } from '../support/provider/billed-cache.ts'
import type { SeenRequest } from '../support/provider/journal.ts'
import type { Script } from '../support/provider/script.ts'
import { openProviderFixture } from '../support/provider-fixture.ts'
import { DAY, type DayStep, HAIKU, SONNET } from './day-of-agents.ts'

/** Nano-dollars a token: Anthropic's published prices of the two models. */
const PRICES: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  [SONNET]: {
    input_tokens: 3000,
    cache_read_input_tokens: 300,
    'cache_creation.ephemeral_5m_input_tokens': 3750,
    'cache_creation.ephemeral_1h_input_tokens': 6000,
    output_tokens: 15_000,
  },
  [HAIKU]: {
    input_tokens: 1000,
    cache_read_input_tokens: 100,
    'cache_creation.ephemeral_5m_input_tokens': 1250,
    'cache_creation.ephemeral_1h_input_tokens': 2000,
    output_tokens: 5000,
  },
}
const OUTPUT_TOKENS = 40
const MINUTE_MS = 60_000

/** The provider's own books: what each request cost, by its own cache, count and prices. */
function openBooks() {
  const cache = createBilledCache()
  const costs: number[] = []
  const script = (request: SeenRequest): Script => {
    const model = String(valueAt(request.json, 'model'))
    const answer = cache.script(request)
    if (answer.kind !== 'answer') return answer
    const usage = { ...answer.usage, output_tokens: OUTPUT_TOKENS }
    costs.push(sum(Object.entries(PRICES[model] ?? {}).map(([name, price]) => Number(valueAt(usage, name)) * price)))
    return { ...answer, usage }
  }
  return { costs, script }
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
const nanoOf = (usd: unknown) => Math.round(Number(usd) * 1e9)

test.serial(
  'conversations: a day of three agents has the same sums in its page, its receipts and the books of the provider',
  async (t) => {
    let aheadMs = 0
    const { now } = Date
    Date.now = () => now() + aheadMs
    t.teardown(() => {
      Date.now = now
    })
    const books = openBooks()
    await using fixture = await openProviderFixture({
      env: { SVC_PIPELINE: 'loop-guard,prompt-cache,cost-guard' },
      scripts: { anthropic: (_, request) => books.script(request) },
    })
    const { url } = fixture.gateway
    const get = (path: string) => send(url, { method: 'GET', path })
    /** Fetches what is written a moment after the reply. */
    const fetched = async (path: string): Promise<JsonObject> => {
      let found: Reply | undefined
      await eventually(async () => {
        found = await get(path)
        return found.status === 200
      }, path)
      if (!isJsonObject(found?.json)) throw new Error(`${path}: ${found?.text}`)
      return found.json
    }

    const replies: { readonly step: DayStep; readonly id: string; readonly cost: number }[] = []
    for (const step of DAY) {
      aheadMs += (step.pauseMinutes ?? 0.1) * MINUTE_MS
      const { path, headers, body } = step
      const reply = await send(url, { path, headers, body })
      t.is(reply.status, 200, reply.text)
      t.is(reply.headers['x-svc-loop'] !== undefined, step.isLoop === true, step.agent)
      const cost = books.costs.at(-1) ?? 0
      replies.push({ step, id: String(reply.headers['x-svc-receipt']), cost })
      t.is(books.costs.length, replies.length)
    }

    const conversations = new Map<string, string>()
    for (const { step, id, cost } of replies) {
      const receipt = await fetched(`/v1/receipts/${id}`)
      t.is(nanoOf(valueAt(receipt, 'cost.provider_usd')), cost, `receipt of ${step.agent}`)
      const conversation = String(receipt.conversation_id)
      t.is(conversations.get(step.agent) ?? conversation, conversation)
      conversations.set(step.agent, conversation)
    }
    t.is(new Set(conversations.values()).size, 4)

    for (const [agent, id] of conversations) {
      const own = replies.filter(({ step }) => step.agent === agent)
      await fetched(`/dashboard/api/requests/${own.at(-1)?.id}`)
      const page = await fetched(`/dashboard/api/conversations/${id}`)
      // Safe: the gateway's own shape.
      const turns = valueAt(page, 'turns.data') as {
        id: string
        costNanoUsd: number
        runningNanoUsd: number
        lost: unknown
      }[]
      t.deepEqual(
        turns.map((turn) => [turn.id, turn.costNanoUsd]),
        own.map(({ id: receipt, cost }) => [receipt, cost]),
      )
      t.is(turns.at(-1)?.runningNanoUsd, sum(own.map(({ cost }) => cost)))
      t.is(valueAt(page, 'conversation.totals.costNanoUsd'), sum(own.map(({ cost }) => cost)), agent)
      const costs = valueAt(page, 'conversation.totals.costs')
      t.is(sum(Object.values(isJsonObject(costs) ? costs : {}).map(Number)), sum(own.map(({ cost }) => cost)), agent)
      t.deepEqual(
        turns.map(({ lost }) => valueAt(lost, 'reason')),
        own.map(({ step }) => step.lost),
        agent,
      )
    }
    const run = await fetched(`/dashboard/api/conversations/${conversations.get('claude-code')}`)
    const ofRun = replies.filter(({ step }) => ['claude-code', 'explore'].includes(step.agent)).map(({ cost }) => cost)
    t.is(valueAt(run, 'conversation.runTotals.costNanoUsd'), sum(ofRun))

    const list = await fetched('/dashboard/api/conversations')
    const runs = valueAt(list, 'data') as { runTotals: { costNanoUsd: number } }[]
    t.is(runs.length, 3)
    t.is(sum(runs.map(({ runTotals }) => runTotals.costNanoUsd)), sum(books.costs))
  },
)
