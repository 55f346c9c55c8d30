import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { ExecutionContext } from 'ava'
import { createSpendLedger } from '../../../src/stores/sql/spend/ledger.ts'
import { sampled } from '../../support/drill.ts'
import { endLeases, engines, type Place } from './places.ts'
import { assertSumsAgree } from './window-sums.ts'

const PROGRAM = fileURLToPath(new URL('./process.ts', import.meta.url))
const WINDOW = { scope: 'shared', window: 'd:2026-11-21' }

interface Running {
  readonly child: ChildProcess
  /** The lines it has printed whole. */
  readonly lines: string[]
  /** Resolves once it has printed so many, or ended. */
  until(count: number): Promise<void>
  readonly ended: Promise<unknown>
}

function run(t: ExecutionContext, task: string, { databaseUrl = '-', dataDir }: Place, name: string): Running {
  const words = ['--disable-warning=ExperimentalWarning', PROGRAM, task, databaseUrl, dataDir, name]
  const child = spawn(process.execPath, words, { stdio: ['pipe', 'pipe', 'inherit'] })
  t.teardown(() => void child.kill('SIGKILL'))
  const lines: string[] = []
  const reader = createInterface({ input: child.stdout })
  const ended = once(reader, 'close')
  let onLine = () => {}
  reader.on('line', (line) => {
    lines.push(line)
    onLine()
  })
  const until = (count: number) =>
    new Promise<void>((resolve) => {
      onLine = () => lines.length >= count && resolve()
      onLine()
      void ended.then(() => resolve())
    })
  return { child, lines, until, ended }
}

/** Asserts that every acknowledged operation is stored as acknowledged. Returns their number. */
async function assertNoneLost(t: ExecutionContext, { sql }: Place, lines: readonly string[]): Promise<number> {
  const rows = await sql('select id, state, cost_nano_usd from spend_hold')
  const byId = new Map(rows.map((row) => [row.id, row]))
  const said = lines.slice(1).map((line) => line.split(' '))
  const lost = said.filter(([what, id, cost]) => {
    const row = byId.get(id)
    return what === 'settled'
      ? row?.state !== 'settled' || Number(row.cost_nano_usd) !== Number(cost)
      : row === undefined
  })
  t.deepEqual(lost, [])
  return said.length
}

for (const engine of engines) {
  engine.test('ledger: of the reservations of several processes exactly those are admitted that fit', async (t) => {
    const place = await engine.createPlace(t)
    const processes = sampled(['a', 'b', 'c', 'd'], 0, 1).map((name) => run(t, 'reserve', place, name))
    await Promise.all(processes.map(({ until }) => until(1)))
    for (const { child } of processes) child.stdin?.write('go')
    await Promise.all(processes.map(({ ended }) => ended))
    const results: { admitted: number; refusals: number[] }[] = processes.map(({ lines }) => JSON.parse(lines[1] ?? ''))
    t.log(results.map(({ admitted }) => admitted).join(' + '))
    t.is(
      results.reduce((sum, { admitted }) => sum + admitted, 0),
      300,
    )
    t.true(results.every(({ refusals }) => refusals.every((spent) => spent === 300)))
    const [shared] = await place.sql(`select held_nano_usd from spend_window where scope = '${WINDOW.scope}'`)
    t.is(Number(shared?.held_nano_usd), 300)
    await assertSumsAgree(t, place)
  })

  engine.test('ledger: a killed process loses nothing that was acknowledged, and its holds end', async (t) => {
    const place = await engine.createPlace(t)
    let acknowledged = 0
    let least = 0
    for (const [name, count] of sampled([['first', 400] as const, ['second', 900] as const], 0)) {
      const { child, lines, until, ended } = run(t, 'load', place, name)
      await until(count)
      child.kill('SIGKILL')
      await ended
      least += count - 1
      acknowledged += await assertNoneLost(t, place, lines)
    }
    t.true(acknowledged >= least, `${acknowledged}`)
    const store = await place.open()
    const ledger = createSpendLedger({ store, log: place.log })
    t.teardown(() => ledger.close(10_000))
    t.true((await assertSumsAgree(t, place)) > 4, 'key, team, tag and gateway')
    const [before] = await ledger.spent([WINDOW])
    t.true(before !== undefined && before.heldNanoUsd > 0)
    await endLeases(place)
    await ledger.sweep()
    const settledNanoUsd = (before?.settledNanoUsd ?? 0) + (before?.heldNanoUsd ?? 0)
    t.deepEqual(await ledger.spent([WINDOW]), [{ settledNanoUsd, heldNanoUsd: 0 }])
    await assertSumsAgree(t, place)
    t.log(`${acknowledged} acknowledged`)
  })
}
