import { mkdtemp, readdir, rm, truncate } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { createRecordingLog, type RecordingLog } from '../../../test/support/recording-log.ts'
import { ScopeIndex } from '../scope-index.ts'
import { Graphs } from './graphs.ts'

const DIMENSIONS = 512
const ENTRIES = 2500
const LONGEST_WAIT_MS = 20_000
const NEAR = { count: 5, leastCosine: 0.5, nowMs: 0 }

async function folderOf(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'turnpike-graphs-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return folder
}

function openGraphs(t: ExecutionContext, folder: string, log: RecordingLog = createRecordingLog()): Graphs {
  const graphs = new Graphs({ folder }, log)
  t.teardown(() => graphs.close())
  return graphs
}

/** A vector of its own for each number: three of its components. */
function vectorOf(n: number): Int8Array {
  const vector = new Int8Array(DIMENSIONS)
  for (const step of [1, 37, 211]) vector[(n * step + step) % DIMENSIONS] = 60 + (n % 13)
  return vector
}

const entryOf = (n: number) => ({
  id: `id ${n}`,
  text: `text ${n}`,
  storedAtMs: 0,
  expiresAtMs: Number.MAX_SAFE_INTEGER,
})

function fill(graphs: Graphs): ScopeIndex {
  const index = new ScopeIndex(DIMENSIONS, { entries: ENTRIES }, (owner) => graphs.open('scope', owner))
  for (let n = 0; n < ENTRIES; n++) index.add(entryOf(n), vectorOf(n))
  return index
}

async function untilWhole(index: ScopeIndex): Promise<void> {
  const deadlineMs = performance.now() + LONGEST_WAIT_MS
  while (!index.isWhole) {
    if (performance.now() > deadlineMs) throw new Error('Expected the graph to be ready')
    await sleep(10)
  }
}

async function textsNear(index: ScopeIndex, n: number): Promise<string[]> {
  return (await index.search(vectorOf(n), NEAR)).map(({ entry: { text } }) => text)
}

/** Whether it is found, soon: on a busy machine a search may be over its time, and only the last entries are looked at then. */
async function comesNear(index: ScopeIndex, n: number): Promise<boolean> {
  const deadlineMs = performance.now() + LONGEST_WAIT_MS
  while (!(await textsNear(index, n)).includes(`text ${n}`)) {
    if (performance.now() > deadlineMs) return false
    await sleep(10)
  }
  return true
}

test('graphs: finds what is too far back to be scanned, and not what was removed', async (t) => {
  const index = fill(openGraphs(t, await folderOf(t)))
  await untilWhole(index)
  t.false(index.nearest(vectorOf(3), NEAR).some(({ entry: { text } }) => text === 'text 3'))
  t.true(await comesNear(index, 3))
  index.remove(entryOf(3))
  t.false((await textsNear(index, 3)).includes('text 3'))
  index.add(entryOf(3), vectorOf(3))
  t.true(await comesNear(index, 3))
})

test('graphs: are read again after a restart, and built anew when their file is truncated', async (t) => {
  const folder = await folderOf(t)
  const first = openGraphs(t, folder)
  await untilWhole(fill(first))
  await first.close()
  t.is((await readdir(folder)).length, 2)
  for (const isDamaged of [false, true]) {
    if (isDamaged) await truncate(path.join(folder, 'scope.hnsw'), 1000)
    const graphs = openGraphs(t, folder)
    const index = fill(graphs)
    await untilWhole(index)
    t.true(await comesNear(index, 3))
    await graphs.close()
  }
})

test('graphs: what a file remembers and the scope does not have is not found', async (t) => {
  const folder = await folderOf(t)
  const first = openGraphs(t, folder)
  await untilWhole(fill(first))
  await first.close()
  const graphs = openGraphs(t, folder)
  const index = new ScopeIndex(DIMENSIONS, { entries: ENTRIES }, (owner) => graphs.open('scope', owner))
  for (let n = 100; n < ENTRIES; n++) index.add(entryOf(n), vectorOf(n))
  await untilWhole(index)
  for (let n = 0; n < 100; n++) t.false((await textsNear(index, n)).includes(`text ${n}`))
})

test('graphs: a thread that dies is started anew and fed again; meanwhile the last entries are scanned', async (t) => {
  const log = createRecordingLog()
  const graphs = openGraphs(t, await folderOf(t), log)
  const index = fill(graphs)
  await untilWhole(index)
  // Safe: what is no label is to end the thread.
  graphs.open('another', { feed: () => {} }).add('no label' as unknown as number, vectorOf(1))
  const deadlineMs = performance.now() + LONGEST_WAIT_MS
  while (index.isWhole && performance.now() < deadlineMs) await sleep(5)
  t.true((await textsNear(index, ENTRIES - 1)).includes(`text ${ENTRIES - 1}`))
  await untilWhole(index)
  t.true(await comesNear(index, 3))
  t.true(log.events().includes('graph.thread-ended'))
})
