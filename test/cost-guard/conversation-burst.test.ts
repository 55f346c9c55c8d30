import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { isDrill } from '../support/drill.ts'
import { eventually } from '../support/eventually.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { ask, type Reply, send } from '../support/http-client.ts'
import { type JsonObject, valueAt } from '../support/json.ts'
import { createMigratedDatabase } from '../support/migrated-database.ts'
import { guardedBy } from '../support/pipelines.ts'
import { isPostgresExpected, isUsed, query } from '../support/postgres.ts'
import type { Script } from '../support/provider/script.ts'
import { querySqlite } from '../support/sqlite.ts'
import { startProvider } from '../support/stand-in-provider.ts'
import { tokenOf } from './cost-fixture.ts'

/*
 * Many turns of one conversation at once, at several gateways on one database. Clients retry until they are answered; when
 * nothing more fits, the budget is raised, and they go on.
 */
const GATEWAYS = isDrill ? 4 : 2
const TURNS = isDrill ? 50 : 18
/** Turns that fit before the raise. */
const FITTING = isDrill ? 120 : 30
const RETRY_MS = 100
/** 10 tokens of input and 60 of output of Sonnet. */
const COST_NANO_USD = 10 * 3000 + 60 * 15_000
/** Fits all of them, and a hold more, which is larger than the cost. */
const LIMIT_USD = (FITTING * COST_NANO_USD * 1.01) / 1e9
const ALL_USD = (GATEWAYS * TURNS * COST_NANO_USD * 1.01) / 1e9
const ANSWER: Script = { kind: 'answer', usage: { input_tokens: 10, output_tokens: 60 } }
const SESSION = 'x-claude-code-session-id'
const AGENT = 'x-claude-code-agent-id'

interface Service {
  readonly gateways: readonly Gateway[]
  /** Returns the rows of a statement, past the gateways. */
  sql(text: string): Promise<Record<string, unknown>[]>
  /** Sends a turn of the conversation `name` to one of the gateways. */
  turn(nth: number, asking: { name: string; guard: string; agent?: string | undefined }): Promise<Reply>
}

interface Opening {
  readonly engine: 'sqlite' | 'postgres'
  readonly start: (env: Readonly<Record<string, string>>, nth: number) => Promise<Gateway>
  readonly count: number
  readonly script?: () => Script
}

async function openService(
  t: ExecutionContext,
  { engine, start, count, script = () => ANSWER }: Opening,
): Promise<Service> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'turnpike-turns-'))
  const config = path.join(dataDir, 'turnpike.yaml')
  await writeFile(config, JSON.stringify({ plugins: { watch: false }, providers: { tries: 1 } }))
  const databaseUrl = engine === 'postgres' ? await createMigratedDatabase() : undefined
  const provider = await startProvider({ script })
  const env = {
    ANTHROPIC_BASE_URL: provider.url,
    ANTHROPIC_API_KEY: 'sk',
    SVC_DATA_DIR: dataDir,
    SVC_CONFIG: config,
    ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
  }
  const gateways = await Promise.all(Array.from({ length: count }, (_, nth) => start(env, nth)))
  t.teardown(async () => {
    await Promise.all(gateways.map((gateway) => gateway.stop()))
    await provider.close()
    await rm(dataDir, { recursive: true, force: true })
  })
  return {
    gateways,
    sql: async (text) => (databaseUrl === undefined ? querySqlite(dataDir, text) : query(databaseUrl, text)),
    turn: (nth, { name, guard, agent }) =>
      send(gateways[nth % gateways.length]?.url ?? '', {
        headers: {
          authorization: `Bearer ${tokenOf('one key')}`,
          'x-svc-pipe': guardedBy(guard),
          [SESSION]: name,
          ...(agent !== undefined && { [AGENT]: agent }),
        },
        // Requests of equal weight that no cache answers for each other.
        body: ask(`turn ${1000 + nth}`, { max_tokens: 64 }),
      }),
  }
}

/** Sums of the budgets of one kind, in nano-USD. */
async function sumsOf({ sql }: Service, prefix: string): Promise<{ settled: number; held: number }> {
  const rows = await sql(`select settled_nano_usd, held_nano_usd from spend_window where window_id like '${prefix}%'`)
  const sum = (column: string) => rows.reduce((total, row) => total + Number(row[column]), 0)
  return { settled: sum('settled_nano_usd'), held: sum('held_nano_usd') }
}

function raise({ gateways }: Service, id: string, body: JsonObject): Promise<Reply> {
  const path = `/dashboard/api/conversations/${id}/budgets`
  return send(gateways.at(-1)?.url ?? '', { method: 'POST', path, body })
}

/** Starts one in this thread; the drill starts processes. */
const startOne = isDrill ? (env: Readonly<Record<string, string>>) => startGatewayProcess(env) : startGateway

for (const engine of ['sqlite', 'postgres'] as const) {
  const run = isUsed(engine) && (engine === 'sqlite' || isPostgresExpected) ? test.serial : test.skip
  for (const { budget, prefix, agents } of [
    { budget: 'per_conversation', prefix: 'c:', agents: [undefined] },
    { budget: 'per_run', prefix: 'r:', agents: [undefined, 'one', 'other'] },
  ]) {
    run(
      `${engine}: ${budget}: turns at once are never over, use 95 % and more, and go on when it is raised`,
      async (t) => {
        t.timeout(300_000)
        const service = await openService(t, { engine, start: startOne, count: GATEWAYS })
        const guard = `${budget}=${LIMIT_USD}`
        let conversation = ''
        const client = async (nth: number): Promise<Reply> => {
          for (;;) {
            const reply = await service.turn(nth, { name: 'one', guard, agent: agents[nth % agents.length] })
            if (reply.status !== 429 && reply.status !== 503) return reply
            if (reply.status === 429) conversation = String(valueAt(reply.json, 'error.conversation'))
            await sleep(RETRY_MS)
          }
        }
        const clients = Promise.all(Array.from({ length: GATEWAYS * TURNS }, (_, nth) => client(nth)))
        let most = 0
        await eventually(async () => {
          const { settled, held } = await sumsOf(service, prefix)
          most = Math.max(most, settled + held)
          return held === 0 && settled >= 0.95 * LIMIT_USD * 1e9 && conversation !== ''
        }, '95 % of the budget is spent, and nothing more fits')
        t.log(
          `${(await sumsOf(service, prefix)).settled / (LIMIT_USD * 1e7)} % spent, ${most / (LIMIT_USD * 1e7)} % at most`,
        )
        t.true(most <= LIMIT_USD * 1e9)
        t.is((await raise(service, conversation, { budget, to: ALL_USD })).status, 200)
        const replies = await clients
        t.true(replies.every(({ status }) => status === 200))
        await eventually(async () => (await sumsOf(service, prefix)).held === 0, 'nothing is held')
        t.is((await sumsOf(service, prefix)).settled, GATEWAYS * TURNS * COST_NANO_USD)
      },
    )
  }

  run(
    `${engine}: a killed process keeps its share of a budget until its lease ends, and it counts in full`,
    async (t) => {
      t.timeout(120_000)
      const never = new Promise<void>(() => {})
      let isHanging = true
      let asked = 0
      const service = await openService(t, {
        engine,
        count: 2,
        start: (env, nth) => (nth === 0 ? startGatewayProcess(env) : startGateway(env)),
        script: () => {
          asked++
          return isHanging ? { ...ANSWER, before: { until: never } } : ANSWER
        },
      })
      const asking = { name: 'killed', guard: `per_conversation=${(5.9 * COST_NANO_USD) / 1e9}` }
      // On a busy machine the database of a new process can be late, which is 503: nothing is held.
      const hang = async (nth: number): Promise<void> => {
        const { status } = await service.turn(nth, asking)
        if (status === 503) await hang(nth)
      }
      const hanging = [0, 2, 4].map((nth) => hang(nth).catch(() => {}))
      const holds = () => service.sql(`select amount_nano_usd from spend_hold where state = 'open'`)
      await eventually(async () => asked === 3 && (await holds()).length === 3, 'three turns are held')
      const { held } = await sumsOf(service, 'c:')
      const [killed] = service.gateways
      if (killed !== undefined && 'pid' in killed) process.kill(Number(killed.pid), 'SIGKILL')
      await Promise.all(hanging)
      isHanging = false
      t.is((await service.turn(1, asking)).status, 200)
      t.is((await service.turn(3, asking)).status, 200)
      const refused = await service.turn(5, asking)
      t.is(refused.status, 429, 'its share is held')
      await service.sql(
        `update spend_hold set due_at_ms = 1 where state = 'open' ${engine === 'sqlite' ? 'returning id' : ''}`,
      )
      await eventually(async () => (await sumsOf(service, 'c:')).held === 0, 'the leases have ended')
      t.is((await sumsOf(service, 'c:')).settled, held + 2 * COST_NANO_USD)
      t.is((await service.turn(5, asking)).status, 429)
      t.is((await raise(service, String(valueAt(refused.json, 'error.conversation')), { by: 1 })).status, 200)
      t.is((await service.turn(5, asking)).status, 200)
    },
  )
}
