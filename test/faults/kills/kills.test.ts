import { setTimeout as sleep } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { createKey } from '../../support/accounts.ts'
import { isDrill } from '../../support/drill.ts'
import type { GatewayProcess } from '../../support/gateway-process.ts'
import { isPostgresExpected } from '../../support/postgres.ts'
import { isRedisExpected } from '../../support/redis.ts'
import { openPlant, type Plant } from '../matrix/plant.ts'
import { auditKills, type Kill } from './audit.ts'
import { type Client, startLoad } from './load.ts'
import { joinTeam, nestCaps } from './nested.ts'
import { randomFrom } from './random.ts'

/*
 * Gateways are killed (SIGKILL) at random moments under a mixed load, and started anew; then the books are looked through.
 * `npm run drill:kills` kills 100 times on each engine with a new seed, `npm test` twice on SQLite with one seed;
 * `TURNPIKE_KILLS` and `TURNPIKE_SEED` change that.
 */

const KILLS = Number(process.env.TURNPIKE_KILLS ?? (isDrill ? 100 : 2))
const SEED = Number(process.env.TURNPIKE_SEED ?? (isDrill ? Date.now() % 1_000_000 : 1))
const CAP_USD = isDrill ? 100 : 10
/** The longest that a gateway lives before it is killed. */
const LONGEST_LIFE_MS = 1500
const CLIENTS = 8
const CREDITS = 1_000_000

const CONFIG = {
  costs: { per_day: CAP_USD, instance_per_day: 1000 * CAP_USD },
  plans: { pro: { included_calls: 5, credits_per_call: 10 } },
}

/** Accounts, half of them on a plan that takes credits. */
async function openClients(plant: Plant, gateway: GatewayProcess): Promise<Client[]> {
  const store = await plant.openStore()
  const clients: Client[] = []
  for (let i = 0; i < CLIENTS; i++) {
    const account = `account-${i % (CLIENTS / 2)}`
    const { id: keyId, key } = await createKey(gateway, account)
    clients.push({ account, keyId, key })
    if (i % 2 === 0) continue
    await plant.sql(`update account set tier = 'pro' where id = '${account}' returning id`)
    await store.run('ledger.append', { accountId: account, kind: 'grant', credits: CREDITS, idem: 'grant' })
  }
  await store.close()
  await nestCaps(plant, clients, CAP_USD * CLIENTS)
  return clients
}

/** Kills one gateway after another under load, and audits. */
async function drill(
  t: ExecutionContext,
  { engine, size }: { engine: 'sqlite' | 'postgres'; size: number },
): Promise<void> {
  t.timeout(isDrill ? 60 * 60_000 : 300_000)
  t.log(`seed ${SEED}`)
  const random = randomFrom(SEED)
  const plant = await openPlant(t, { engine, config: CONFIG })
  plant.providerSays({ kind: 'answer', writes: { sizes: 'events', between: { delayMs: 20 } } })
  const gateways: (GatewayProcess | undefined)[] = []
  for (let i = 0; i < size; i++) gateways.push(await plant.startCloud({}))
  const clients = await openClients(plant, gateways[0] as GatewayProcess)
  const up = () => gateways.filter((gateway) => gateway !== undefined)
  const load = startLoad({ plant, clients, gateway: () => up()[Math.floor(random() * up().length)], random })
  const kills: Kill[] = []
  try {
    for (let nth = 0; nth < KILLS; nth++) {
      await sleep(random() * LONGEST_LIFE_MS)
      const place = Math.floor(random() * size)
      const victim = gateways[place] as GatewayProcess
      gateways[place] = undefined
      const [nomad] = clients
      if (nomad !== undefined) await joinTeam(plant, nomad.keyId, nth + 1)
      process.kill(victim.pid, 'SIGKILL')
      kills.push({ pid: victim.pid, atMs: performance.now() })
      await victim.stop()
      gateways[place] = await plant.startCloud({})
    }
    await sleep(LONGEST_LIFE_MS)
  } finally {
    await load.stop()
  }
  const figures = await auditKills(t, {
    plant,
    gateways: up() as [GatewayProcess, ...GatewayProcess[]],
    load,
    kills,
    capUsd: CAP_USD,
    keepsAnswers: engine === 'postgres',
  })
  t.log(JSON.stringify(figures))
}

test.serial('kills: one gateway on SQLite', (t) => drill(t, { engine: 'sqlite', size: 1 }))

if (isDrill && isPostgresExpected && isRedisExpected)
  test.serial('kills: four gateways on PostgreSQL and Redis', (t) => drill(t, { engine: 'postgres', size: 4 }))
