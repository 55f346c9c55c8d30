import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Tier } from '../../src/core/money/plans.ts'
import type { Engine, Place } from '../stores/sql/places.ts'
import { bearer, createKey, startCloudGateway, startCloudProcess } from '../support/accounts.ts'
import { isDrill } from '../support/drill.ts'
import type { Environment, Gateway } from '../support/gateway.ts'
import { type Reply, type SendOptions, send } from '../support/http-client.ts'
import type { SeenRequest } from '../support/provider/journal.ts'
import { holdEvent, type Script } from '../support/provider/script.ts'
import { type Provider, startProvider } from '../support/stand-in-provider.ts'

/** Gateways on one database, with plans that are soon used up. */
export interface PlansFixture {
  readonly gateways: readonly Gateway[]
  readonly provider: Provider
  readonly place: Place
  /** Opens an account of this tier with these credits, and one key. */
  account(tier: Tier, credits?: number): Promise<Account>
  close(): Promise<void>
}

/** A caller and its rows. */
export interface Account {
  readonly id: string
  send(body: SendOptions['body'], options?: Omit<SendOptions, 'body'>): Promise<Reply>
  /** Calls that are answered, calls that run, credits, and credits that are held. */
  books(): Promise<{ settled: number; held: number; posted: number; heldCredits: number }>
  /** Calls beyond the plan, and the credits that they cost. */
  overage(): Promise<{ calls: number; credits: number }>
}

const PLANS = {
  free: { included_calls: 3 },
  pro: { included_calls: 2, credits_per_call: 10 },
}

const MOST_TRIES = 8

let accounts = 0

/** Opens the fixture on an engine. What the provider does follows from the request's text: its first word. */
async function openPlansFixture(place: Place): Promise<PlansFixture> {
  const config = path.join(place.dataDir, 'turnpike.yaml')
  const costs = { per_day: 1000 }
  await writeFile(config, JSON.stringify({ plugins: { watch: false }, providers: { tries: 1 }, plans: PLANS, costs }))
  const provider = await startProvider({ script: scriptOf })
  const database = place.databaseUrl === undefined ? {} : { DATABASE_URL: place.databaseUrl }
  const env: Environment = {
    ANTHROPIC_BASE_URL: provider.url,
    ANTHROPIC_API_KEY: 'sk',
    SVC_DATA_DIR: place.dataDir,
    SVC_CONFIG: config,
    ...database,
  }
  const gateways = await startGateways(env)
  let turn = 0
  const next = () => gateways[turn++ % gateways.length]!
  const store = await place.open()
  return {
    gateways,
    provider,
    place,
    async account(tier, credits = 0) {
      const id = `user-${++accounts}`
      const { key } = await createKey(next(), id)
      await place.sql(`update account set tier = '${tier}' where id = '${id}'`)
      const grant = { accountId: id, kind: 'grant', credits, idem: 'grant' }
      if (credits > 0) await store.run('ledger.append', grant)
      return {
        id,
        send: (body, options) =>
          decided(() =>
            send(next().url, { ...options, headers: { ...bearer(key), ...options?.headers }, ...(body && { body }) }),
          ),
        books: () => readBooks(place, id),
        overage: () => readOverage(place, id),
      }
    },
    async close() {
      for (const { stop } of gateways) await stop()
      await provider.close()
    },
  }
}

/** One on SQLite and two on PostgreSQL; in the drill three processes on one port. */
async function startGateways(env: Environment): Promise<readonly Gateway[]> {
  if (isDrill) return [await startCloudProcess(env, { args: ['--workers', '3'] })]
  const size = env.DATABASE_URL === undefined ? 1 : 2
  return Promise.all(Array.from({ length: size }, () => startCloudGateway(env)))
}

/** On a busy machine the database may be asked too much at once, which is 503 and decides nothing: it is asked again. */
async function decided(ask: () => Promise<Reply>): Promise<Reply> {
  for (let tries = 1; ; tries++) {
    const reply = await ask()
    if (reply.status !== 503 || tries === MOST_TRIES) return reply
  }
}

async function readBooks({ sql }: Place, id: string) {
  const [account] = await sql(`select posted_credits, held_credits from account where id = '${id}'`)
  const [calls] = await sql(
    `select sum(settled_calls) as settled, sum(held_calls) as held from call_window where account_id = '${id}'`,
  )
  return {
    settled: Number(calls?.settled ?? 0),
    held: Number(calls?.held ?? 0),
    posted: Number(account?.posted_credits),
    heldCredits: Number(account?.held_credits),
  }
}

async function readOverage({ sql }: Place, id: string) {
  const [hours] = await sql(
    `select sum(calls) as calls, sum(charged_credits) as credits from overage_hour where account_id = '${id}'`,
  )
  return { calls: Number(hours?.calls ?? 0), credits: Number(hours?.credits ?? 0) }
}

const never = new Promise<void>(() => {})

function scriptOf(request: SeenRequest): Script {
  const text = request.raw.toString()
  if (text.includes('fail')) return { kind: 'error', status: 500 }
  if (text.includes('refuse')) return { kind: 'error', status: 400 }
  if (text.includes('break')) return { kind: 'break', at: 'before-headers' }
  if (text.includes('hang')) return { kind: 'hang', at: 'before-headers' }
  if (text.includes('stall')) return { kind: 'answer', writes: holdEvent(2, never) }
  return { kind: 'answer' }
}

/** The fixture of each engine, opened once. */
export function fixtureOf(
  engine: Engine,
  owner: { after(close: () => Promise<void>): void },
): () => Promise<PlansFixture> {
  let opened: Promise<PlansFixture> | undefined
  return () => {
    opened ??= engine.shared().then(async ({ place }) => {
      const fixture = await openPlansFixture(place)
      owner.after(fixture.close)
      return fixture
    })
    return opened
  }
}
