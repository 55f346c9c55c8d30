/**
 * Times the lists of conversations with 100,000 turns on SQLite: so many conversations (default 2,500), and one of 2,500 turns.
 *
 *   node bench/conversations.ts 2500
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { performance } from 'node:perf_hooks'
import { conversationId } from '../src/core/request/conversation/conversation.ts'
import { EVERYBODY } from '../src/core/telemetry/telemetry.ts'
import { openSqliteStore } from '../src/stores/sql/sqlite/store.ts'
import { toRow } from '../src/stores/sql/telemetry/rows.ts'
import { createTelemetry } from '../src/stores/sql/telemetry/telemetry.ts'
import { createRecordingLog } from '../test/support/recording-log.ts'
import { sampleRequest } from '../test/support/telemetry.ts'

const TURNS = 100_000
const LONG = 2500
const BATCH = 500
const ROUNDS = 7
const CONVERSATIONS = Number(process.argv[2] ?? 2500)
const START_MS = Date.UTC(2026, 10, 1)

const folder = mkdtempSync(path.join(tmpdir(), 'turnpike-bench-'))
const clock = { nowMs: () => Date.now() }
const log = createRecordingLog()
const open = () =>
  openSqliteStore({ file: path.join(folder, 'telemetry.db'), tables: 'telemetry', log, clock, patienceMs: 60_000 })
const telemetry = createTelemetry({ open: async () => open(), log })
const trace = {
  steps: Array.from({ length: 6 }, (_, i) => ({ module: `module-${i}`, action: 'ran', ms: 0.1, details: { n: i } })),
  edits: [],
  calls: [],
}

/** The conversation of the nth turn: the last ones belong to the long one. */
const nameOf = (index: number): string => (index >= TURNS - LONG ? 'long' : String(index % CONVERSATIONS))

for (let from = 0; from < TURNS; from += BATCH) {
  const rows = Array.from({ length: BATCH }, (_, i) => {
    const id = conversationId('scope', nameOf(from + i))
    const startedAtMs = START_MS + (from + i) * 1000
    const turn = from + i
    return toRow(
      sampleRequest({
        startedAtMs,
        scope: 'scope',
        trace,
        conversation: { id, rootId: id, parentId: null, source: 'client', client: 'codex', agent: null, turn },
      }),
    )
  })
  await telemetry.run('telemetry.put', rows)
}

const long = conversationId('scope', 'long')
const [nearLast] = (await telemetry.list('scope', { limit: 101 })).slice(-1)
const reads = {
  'list, one scope': () => telemetry.runs('scope', { limit: 100 }),
  'list, all scopes': () => telemetry.runs(EVERYBODY, { limit: 100 }),
  'list, searched': () => telemetry.runs(EVERYBODY, { limit: 100, text: 'codex' }),
  'one conversation': () => telemetry.findRun(EVERYBODY, long),
  'first turns': () => telemetry.turns(EVERYBODY, long, { limit: 100 }),
  'last turns': () => telemetry.turns(EVERYBODY, long, { limit: 100, after: nearLast?.id }),
}
for (const [name, read] of Object.entries(reads)) {
  const times: number[] = []
  for (let i = 0; i < ROUNDS; i++) {
    const startMs = performance.now()
    await read()
    times.push(performance.now() - startMs)
  }
  const sorted = times.toSorted((a, b) => a - b)
  const figure = (index: number) => (sorted[index] ?? 0).toFixed(1)
  console.log(`${name}: median ${figure(ROUNDS >> 1)} ms, longest ${figure(ROUNDS - 1)} ms`)
}
await telemetry.close(10_000)
rmSync(folder, { recursive: true })
