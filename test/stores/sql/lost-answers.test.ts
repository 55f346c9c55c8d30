import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import type { CommandInput, CommandName } from '../../../src/stores/sql/commands.ts'
import { openSqlStore } from '../../../src/stores/sql/store.ts'
import { createMigratedDatabase } from '../../support/migrated-database.ts'
import { isPostgresExpected, query } from '../../support/postgres.ts'
import { createRecordingLog } from '../../support/recording-log.ts'
import { openAccount, PLANS } from './credits/accounts.ts'
import { violationsIn } from './credits/books.ts'

/*
 * Commands in lanes are run again when they are late. Here the database runs the command, and its answer is
 * lost on the way: the second run finds the work of the first.
 *
 *   store ──► relay ──► PostgreSQL
 *               └ the next answer of that tag is kept back, and the connection is silent from then on
 */
const PATIENCE_MS = 1000
const ASKED_EVERY_MS = 20
const LEASE_MS = 60_000
/** Tags of completed commands (PostgreSQL manual, "Message Formats"). */
const SELECT = 'SELECT 1\0'
const COMMIT = 'COMMIT\0'
const INSERT = 'INSERT 0 1\0'

const testWithPostgres = isPostgresExpected ? test : test.skip

async function startRelay(t: ExecutionContext, target: { host: string; port: number }) {
  const sockets: Socket[] = []
  let losing: string | undefined
  let lost = 0
  const server = createServer((client) => {
    const database = connect(target)
    let isSilent = false
    for (const [here, there] of [
      [client, database],
      [database, client],
    ] as const) {
      sockets.push(here)
      here.on('error', () => {})
      here.on('close', () => there.destroy())
    }
    client.on('data', (piece) => database.write(piece))
    database.on('data', (piece) => {
      if (losing !== undefined && piece.includes(losing)) {
        losing = undefined
        isSilent = true
        lost++
      }
      if (!isSilent) client.write(piece)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return {
    // Safe: it listens on a port.
    port: (server.address() as AddressInfo).port,
    lose: (tag: string) => {
      losing = tag
    },
    lost: () => lost,
  }
}

/** Opens a store behind a relay, with an account, and a way to run commands whose first answer is lost. */
async function openLosing(t: ExecutionContext) {
  t.timeout(120_000)
  const databaseUrl = await createMigratedDatabase()
  const sql = (text: string) => query(databaseUrl, text)
  const { hostname, port } = new URL(databaseUrl)
  const relay = await startRelay(t, { host: hostname, port: Number(port) })
  const store = await openSqlStore({
    databaseUrl: databaseUrl.replace(`:${port}`, `:${relay.port}`),
    dataDir: '',
    log: createRecordingLog(),
    clock: { nowMs: () => Date.now() },
    patienceMs: PATIENCE_MS,
  })
  t.teardown(() => store.close())
  await openAccount({ sql }, { id: ACCOUNT, tier: 'pro' })
  let losses = 0
  const runLosing = async <Name extends CommandName>(tag: string, name: Name, input: CommandInput<Name>) => {
    relay.lose(tag)
    let isDone = false
    const running = store.run(name, input).finally(() => {
      isDone = true
    })
    // A database that answers nothing else counts as down.
    while (!isDone) {
      await store.run('spend.read', [{ scope: 'other', window: 'd:2026-11-21' }])
      await sleep(ASKED_EVERY_MS)
    }
    t.is(relay.lost(), ++losses, `${name}: an answer was lost`)
    return running
  }
  const sums = async () => {
    const [row] = await sql(
      `select min(held_nano_usd)::int as held, max(held_nano_usd)::int as most, min(settled_nano_usd)::int as settled
      from spend_window where scope = 's'`,
    )
    return row
  }
  return { store, sql, sums, runLosing }
}

const ACCOUNT = 'acc'
const WINDOWS = ['d:2026-11-21', 'm:2026-11'].map((window) => ({ scope: 's', window, limitNanoUsd: 1000 }))

function holdOf(holdId: string, amountNanoUsd: number) {
  return { holdId, amountNanoUsd, windows: WINDOWS, leaseMs: LEASE_MS }
}

function callOf(holdId: string) {
  return { holdId, accountId: ACCOUNT, calls: 1, plans: PLANS, leaseMs: LEASE_MS }
}

testWithPostgres('lost answers: a hold that is made and raised again is held once', async (t) => {
  const { runLosing, sums } = await openLosing(t)
  t.like(await runLosing(COMMIT, 'spend.reserve', holdOf('a', 400)), { ok: true, standing: [{ heldNanoUsd: 400 }] })
  t.deepEqual(await sums(), { held: 400, most: 400, settled: 0 })
  t.like(await runLosing(COMMIT, 'spend.grow', { holdId: 'a', toNanoUsd: 700, leaseMs: LEASE_MS }), { ok: true })
  t.deepEqual(await sums(), { held: 700, most: 700, settled: 0 })
})

testWithPostgres('lost answers: an admission and a take that are run again count one call each', async (t) => {
  const { store, sql, runLosing, sums } = await openLosing(t)
  const admission = await runLosing(COMMIT, 'spend.admit', { hold: holdOf('b', 1000), call: callOf('b') })
  t.like(admission, { spend: { ok: true }, call: { ok: true, callCredits: 0 } })
  t.deepEqual(await sums(), { held: 1000, most: 1000, settled: 0 })
  t.like(await store.run('spend.reserve', holdOf('c', 1)), { ok: false })
  t.deepEqual(await runLosing(INSERT, 'ledger.take', callOf('d')), { ok: true, callCredits: 0 })
  const [calls] = await sql('select sum(held_calls)::int as held, sum(settled_calls)::int as settled from call_window')
  t.deepEqual(calls, { held: 2, settled: 0 })
  t.deepEqual(await sql(violationsIn(ACCOUNT)), [])
})

testWithPostgres('lost answers: a settlement that is run again is counted once', async (t) => {
  const { store, runLosing, sums } = await openLosing(t)
  t.like(await store.run('spend.reserve', holdOf('a', 700)), { ok: true })
  t.like(await store.run('spend.reserve', holdOf('b', 300)), { ok: true })
  t.deepEqual(await runLosing(SELECT, 'spend.settle', [{ holdId: 'a', costNanoUsd: 650 }]), ['repeated'])
  t.deepEqual(await sums(), { held: 300, most: 300, settled: 650 })
  t.deepEqual(await runLosing(SELECT, 'spend.settle', [{ holdId: 'b', costNanoUsd: 0 }]), ['repeated'])
  t.deepEqual(await sums(), { held: 0, most: 0, settled: 650 })
})
