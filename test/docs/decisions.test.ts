import { existsSync, globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'
import { ownFiles } from '../../scripts/own-files.ts'

const ROOT = path.resolve(import.meta.dirname, '../..')
const FOLDER = path.join(ROOT, 'docs/decisions')
const RECORDS = globSync('[0-9]*.md', { cwd: FOLDER }).sort()

test('decisions: numbers have no gap, and each record has its own in its title', (t) => {
  const numbers = RECORDS.map((_, index) => String(index + 1).padStart(4, '0'))
  t.deepEqual(
    RECORDS.map((file) => file.slice(0, 4)),
    numbers,
  )
  t.deepEqual(
    RECORDS.map((file) => titleLine(file).slice(0, 8)),
    numbers.map((number) => `# ${number}: `),
  )
})

test('decisions: the index lists each record once, by its title', (t) => {
  const index = readFileSync(path.join(FOLDER, 'README.md'), 'utf8').match(/^- .*$/gm) ?? []
  const lines = RECORDS.map((file) => `- [${file.slice(0, 4)}](${file}) ${titleLine(file).slice(8)}`)
  t.deepEqual(index.toSorted(), lines.toSorted())
})

test('decisions: sources refer to records that exist', (t) => {
  const sources = ownFiles(['{bench,bin,eval,examples,plugins,scripts,src,test}/**/*.{ts,tsx,mjs}'], ROOT)
  const referenced = sources.flatMap(
    (file) => readFileSync(path.join(ROOT, file), 'utf8').match(/docs\/decisions\/\d{4}-[\w-]+\.md/g) ?? [],
  )
  t.not(referenced.length, 0)
  t.deepEqual(
    referenced.filter((file) => !existsSync(path.join(ROOT, file))),
    [],
  )
})

function titleLine(file: string): string {
  return readFileSync(path.join(FOLDER, file), 'utf8').split('\n', 1)[0] ?? ''
}
