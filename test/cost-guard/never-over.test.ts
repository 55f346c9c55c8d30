import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import { isDrill } from '../support/drill.ts'
import { eventually } from '../support/eventually.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { ask, type Reply, send } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'
import { guardedBy } from '../support/pipelines.ts'
import type { SeenRequest } from '../support/provider/journal.ts'
import type { Script } from '../support/provider/script.ts'
import { type Provider, startProvider } from '../support/stand-in-provider.ts'
import { readBooks, tokenOf } from './cost-fixture.ts'

const BURST = isDrill ? 500 : 120
const FITTING = isDrill ? 60 : 40
const LENGTHS = isDrill ? 110 : 60
const AGENTS = 20
/** Agents at once, and their cap: what they hold together is a small share of it. */
const LASTING = isDrill ? { agents: 10, capUsd: 2.5 } : { agents: 4, capUsd: 1 }
/** As few as the guard's floor: nothing can be lowered, every request holds the same. */
const MAX_TOKENS = 64

/** A gateway, with its books, and a provider that answers on command. */
interface Crowd {
  gateway: Gateway
  provider: Provider
  dataDir: string
  send(caller: string, guard: string, options?: { extra?: object; signal?: AbortSignal }): Promise<Reply>
}

async function openCrowd(
  t: ExecutionContext,
  workers: number,
  script: (request: SeenRequest) => Script,
): Promise<Crowd> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'turnpike-cost-'))
  const config = path.join(dataDir, 'turnpike.yaml')
  await writeFile(config, JSON.stringify({ plugins: { watch: false }, providers: { tries: 1 } }))
  const provider = await startProvider({ script })
  const env = { ANTHROPIC_BASE_URL: provider.url, ANTHROPIC_API_KEY: 'sk', SVC_DATA_DIR: dataDir, SVC_CONFIG: config }
  const gateway =
    workers === 1 ? await startGateway(env) : await startGatewayProcess(env, { args: ['--workers', String(workers)] })
  t.teardown(async () => {
    await gateway.stop()
    await provider.close()
    await rm(dataDir, { recursive: true, force: true })
  })
  let nth = 1000
  return {
    gateway,
    provider,
    dataDir,
    send: (caller, guard, { extra, signal } = {}) =>
      send(gateway.url, {
        headers: { authorization: `Bearer ${tokenOf(caller)}`, 'x-svc-pipe': guardedBy(guard) },
        // Requests of equal weight that no cache answers for each other.
        body: ask(`hi ${nth++}`, { max_tokens: MAX_TOKENS, ...extra }),
        ...(signal && { signal }),
      }),
  }
}

/** Repeats a request that got 503, which decides nothing: on a busy machine the database's queue may be full. */
async function decidedReply(send: () => Promise<Reply>): Promise<Reply> {
  for (;;) {
    const reply = await send()
    if (reply.status !== 503) return reply
  }
}

for (const workers of [1, isDrill ? 4 : 2]) {
  test.serial(`never over: ${BURST} at once against a cap admit exactly what fits (${workers} workers)`, async (t) => {
    const decided = Promise.withResolvers<void>()
    const answer: Script = { kind: 'answer', usage: { input_tokens: 10, output_tokens: 60 } }
    let isGated = false
    const crowd = await openCrowd(t, workers, () =>
      isGated ? { ...answer, before: { until: decided.promise } } : answer,
    )
    await crowd.send('probe', 'per_day=1')
    await eventually(() => readBooks(crowd.dataDir, 'probe').holds.length === 1, 'the probe is settled')
    const amountNanoUsd = readBooks(crowd.dataDir, 'probe').holds[0]?.amountNanoUsd ?? 0
    isGated = true
    const guard = `per_day=${(FITTING * amountNanoUsd) / 1e9}`
    let refused = 0
    const replies = await Promise.all(
      Array.from({ length: BURST }, async () => {
        const reply = await decidedReply(() => crowd.send('burst', guard))
        if (reply.status === 429 && ++refused === BURST - FITTING) decided.resolve()
        return reply
      }),
    )
    t.is(replies.filter(({ status }) => status === 200).length, FITTING)
    for (const { status, json } of replies) {
      if (status === 200) continue
      const { limit, spent, estimated } = valueAt(json, 'error') as Record<'limit' | 'spent' | 'estimated', number>
      t.true(spent + estimated > limit)
    }
    await eventually(() => readBooks(crowd.dataDir, 'burst').heldNanoUsd === 0, 'all are settled')
    t.is(readBooks(crowd.dataDir, 'burst').settledNanoUsd, FITTING * (10 * 3000 + 60 * 15_000))
  })
}

test.serial('never over: streams of any length that end, break, are cut or left settle within the cap', async (t) => {
  const lengths = fc.sample(fc.tuple(fc.integer({ min: 5, max: 600 }), fc.integer({ min: 0, max: 9 })), {
    numRuns: LENGTHS,
    seed: 29,
  })
  let nth = 0
  const crowd = await openCrowd(t, 1, () => {
    const [words, fate] = lengths[nth++ % lengths.length] ?? [1, 0]
    const writes = { sizes: [1500], between: { delayMs: 1 } }
    const script = { kind: 'answer', text: 'word '.repeat(words), writes } as const
    return fate === 9 ? { ...script, cutAfterBytes: 20 * words } : script
  })
  const capNanoUsd = 0.0027e9 * LENGTHS
  const seen = new Map<string, number>()
  const left = [...lengths]
  const client = async () => {
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      const leaving = new AbortController()
      if (next[1] === 8) setTimeout(() => leaving.abort(), 20)
      const extra = { stream: true, max_tokens: 4000 }
      const reply = await crowd.send('many', `per_day=${capNanoUsd / 1e9}`, { extra, signal: leaving.signal })
      const stopped = /"stop_reason":"(\w+)/.exec(reply.text)?.[1] ?? 'broken'
      const kind = reply.status === 429 ? 'refused' : stopped
      seen.set(kind, (seen.get(kind) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: AGENTS }, client))
  await eventually(() => readBooks(crowd.dataDir, 'many').heldNanoUsd === 0, 'all are settled')
  const { settledNanoUsd, holds } = readBooks(crowd.dataDir, 'many')
  t.log(`${(settledNanoUsd / capNanoUsd) * 100} % of the cap`, Object.fromEntries(seen))
  t.true(settledNanoUsd <= capNanoUsd, String(settledNanoUsd))
  t.is(
    holds.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0),
    settledNanoUsd,
  )
  for (const kind of ['max_tokens', 'end_turn', 'broken', 'refused']) t.true((seen.get(kind) ?? 0) > 0, kind)
})

/** A model that would write 800 tokens. */
const used = ({ json }: SeenRequest) => ({ input_tokens: 10, output_tokens: Math.min(800, Number(json?.max_tokens)) })
const TEXT = 'several plain words of English text '.repeat(90)
for (const stream of [true, false]) {
  test.serial(
    `never locked out: agents that ask for 32,000 tokens and use 800 spend 90 % of a cap before the first refusal (${stream ? 'SSE' : 'JSON'})`,
    async (t) => {
      const writes = { sizes: [2000], between: { delayMs: 1 } }
      const crowd = await openCrowd(t, 1, (request) => ({ kind: 'answer', text: TEXT, usage: used(request), writes }))
      const capNanoUsd = LASTING.capUsd * 1e9
      let atFirstRefusal: number | undefined
      let admitted = 0
      const agent = async () => {
        while (atFirstRefusal === undefined) {
          const reply = await crowd.send('agents', `per_day=${LASTING.capUsd}`, {
            extra: { max_tokens: 32_000, stream },
          })
          if (reply.status === 200) admitted++
          else {
            t.is(reply.status, 429)
            atFirstRefusal ??= readBooks(crowd.dataDir, 'agents').settledNanoUsd
          }
        }
      }
      await Promise.all(Array.from({ length: LASTING.agents }, agent))
      const share = (atFirstRefusal ?? 0) / capNanoUsd
      await eventually(() => readBooks(crowd.dataDir, 'agents').heldNanoUsd === 0, 'all are settled')
      const { settledNanoUsd } = readBooks(crowd.dataDir, 'agents')
      t.log(
        `${(share * 100).toFixed(1)} % at the first refusal, ${((settledNanoUsd / capNanoUsd) * 100).toFixed(1)} % in the end, ${admitted} answers`,
      )
      t.true(share >= 0.9, String(share))
      t.true(settledNanoUsd <= capNanoUsd, String(settledNanoUsd))
    },
  )
}
