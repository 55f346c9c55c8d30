import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { ExecutionContext } from 'ava'
import { engines, type Place } from '../places.ts'
import { LOADED_ACCOUNTS, openAccount } from './accounts.ts'
import { violationsIn } from './books.ts'
import { drill } from './drill.ts'

const PROGRAM = fileURLToPath(new URL('./load.ts', import.meta.url))
const LINES = 400

/** Has a process use the ledger, kills it during that, and returns the operations that were acknowledged to it. */
async function killUnderLoad(
  t: ExecutionContext,
  { databaseUrl = '-', dataDir }: Place,
  name: string,
): Promise<string[]> {
  const words = ['--disable-warning=ExperimentalWarning', PROGRAM, databaseUrl, dataDir, name]
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => void child.kill('SIGKILL'))
  const lines: string[] = []
  const reader = createInterface({ input: child.stdout })
  const ended = once(reader, 'close')
  reader.on('line', (line) => {
    if (lines.push(line) === LINES) child.kill('SIGKILL')
  })
  await ended
  return lines.slice(1)
}

/** Lists acknowledged operations that are missing. */
async function lostOf({ sql }: Place, lines: readonly string[]): Promise<string[]> {
  const entries = new Set((await sql('select idem from ledger_entry')).map(({ idem }) => idem))
  const holds = new Map((await sql('select id, state, used_calls from credit_hold')).map((row) => [row.id, row]))
  return lines.filter((line) => {
    const [what, id, used] = line.split(' ')
    if (what === 'appended') return !entries.has(id)
    const hold = holds.get(id)
    if (what === 'held') return hold === undefined
    const state = used === '0' ? 'voided' : 'posted'
    return hold?.state !== state || Number(hold?.used_calls) !== Number(used)
  })
}

for (const engine of engines) {
  engine.test('credits: a killed process loses nothing that was acknowledged, and the books agree', async (t) => {
    const place = await engine.createPlace(t)
    const store = await place.open()
    for (const id of LOADED_ACCOUNTS) await openAccount(place, { id, tier: 'pro' })
    let acknowledged = 0
    for (let kill = 1; kill <= drill.kills; kill++) {
      const lines = await killUnderLoad(t, place, `p${kill}`)
      t.true(lines.length >= LINES - 1, `${lines.length}`)
      t.deepEqual(await lostOf(place, lines), [])
      t.deepEqual(await place.sql(violationsIn('loaded-%')), [])
      acknowledged += lines.length
    }
    const openHolds = await place.sql("select id from credit_hold where state = 'open'")
    t.true(openHolds.length > 0)
    await place.sql("update credit_hold set due_at_ms = 0 where state = 'open'")
    for (let more = true; more; ) ({ isMore: more } = await store.run('ledger.sweep', undefined))
    t.deepEqual(await place.sql(violationsIn('loaded-%')), [])
    t.deepEqual(await place.sql('select id from account where held_credits > 0'), [])
    t.log(`${drill.kills} kills, ${acknowledged} acknowledged, ${openHolds.length} holds expired`)
  })
}
