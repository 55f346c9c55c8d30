import test from 'ava'
import { moduleFigures } from './module-figures.ts'

const edit = (module: string, bytesBefore: number, bytesAfter: number) => ({
  module,
  paths: [],
  bytesBefore,
  bytesAfter,
})
const step = (module: string, action: string) => ({ module, action, ms: 2 })

test('module figures: a saving is that of the cache that answered, or of the edits by their size', (t) => {
  const hit = { steps: [step('exact-cache', 'hit'), step('compress', 'ran')], edits: [], calls: [] }
  const edited = {
    steps: [step('exact-cache', 'miss'), step('compress', 'shortened')],
    edits: [edit('compress', 400, 100), edit('prune-tools', 200, 100)],
    calls: [],
  }
  const unedited = { steps: [step('compress', 'idle')], edits: [], calls: [] }
  const figures = moduleFigures([
    { trace: hit, cache: 'hit', savedNanoUsd: 100 },
    { trace: edited, cache: 'miss', savedNanoUsd: 40 },
    { trace: unedited, cache: 'none', savedNanoUsd: 7 },
  ])
  t.deepEqual(figures, [
    {
      module: 'compress',
      runs: 3,
      actions: { ran: 1, shortened: 1, idle: 1 },
      ms: 6,
      bytesRemoved: 300,
      savedNanoUsd: 30,
    },
    {
      module: 'exact-cache',
      runs: 2,
      actions: { hit: 1, miss: 1 },
      ms: 4,
      bytesRemoved: 0,
      savedNanoUsd: 100,
    },
    { module: 'prune-tools', runs: 0, actions: {}, ms: 0, bytesRemoved: 100, savedNanoUsd: 10 },
  ])
})
