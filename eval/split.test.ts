import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test from 'ava'
import { ofSplit } from './split.ts'

const SESSION = { id: 'tau-1', split: 'dev', messages: [{ role: 'user', content: 'Hello.' }], needles: [] }

test('split: returns the items of a split, and all of them without one', (t) => {
  const items = [{ split: 'dev' }, { split: 'test' }]
  t.deepEqual(ofSplit(items, 'dev', 'data'), [{ split: 'dev' }])
  t.is(ofSplit(items, undefined, 'data').length, 2)
})

for (const [command, file] of [
  ['compression', 'trajectories.jsonl'],
  ['pruning', 'cases.jsonl'],
] as const) {
  test(`split: eval:${command} refuses an unknown split, and names the known ones`, (t) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'turnpike-split-'))
    t.teardown(() => rmSync(folder, { recursive: true }))
    writeFileSync(path.join(folder, 'tools.jsonl'), '{"server":"","name":"a","description":"","input_schema":{}}')
    const line = { ...SESSION, set: 'tau', turns: [{ user: 'Hello.', gt: [0] }], pools: {} }
    writeFileSync(path.join(folder, file), JSON.stringify(line))
    const script = path.join(import.meta.dirname, command, 'run.ts')
    const { status, stderr } = spawnSync(process.execPath, [script, '--data', folder, '--split', 'test'])
    t.is(status, 1)
    t.regex(String(stderr), /^The data in .* has no split `test`, only `dev`: .*\n$/)
  })
}

test('split: eval:semantic refuses a split that is not in the data, and a folder without data', (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'turnpike-split-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const measure = (...more: string[]) =>
    spawnSync(process.execPath, [path.join(import.meta.dirname, 'semantic/run.ts'), '--data', folder, ...more])
  const empty = measure()
  t.is(empty.status, 1)
  t.regex(String(empty.stderr), /^Expected .* to hold labelled data, .*\n$/)
  writeFileSync(
    path.join(folder, 'pairs.jsonl'),
    '{"a":"Is it?","b":"Is it not?","same":false,"kind":"negation","t":1}',
  )
  const absent = measure('--split', 'test')
  t.is(absent.status, 1)
  t.regex(String(absent.stderr), /^pairs\.jsonl holds nothing of the split test: .*\n$/)
})
