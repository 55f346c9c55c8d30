import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'

const MOST_LINES = 3500
const MOST_WORDS = 1500
/** Matches a word of a page; the borders of tables are none. */
const WORD = /[\p{L}\d][^\s|]*/gu

const read = (file: string) => readFileSync(path.join(import.meta.dirname, file), 'utf8')

test('semantic-cache: the module has fewer than 3,500 lines, without tests', (t) => {
  const files = globSync('**/*.ts', { cwd: import.meta.dirname }).filter((file) => !file.endsWith('.test.ts'))
  const lines = files.reduce((sum, file) => sum + read(file).split('\n').length - 1, 0)
  t.true(lines < MOST_LINES, `${lines} lines`)
})

test('semantic-cache: its page has fewer than 1,500 words, options included', (t) => {
  const words = read('README.md').match(WORD)?.length ?? 0
  t.true(words > 0 && words < MOST_WORDS, `${words} words`)
})
