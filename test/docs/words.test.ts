import path from 'node:path'
import test from 'ava'
import { refusedWords } from '../../scripts/docs/words.ts'
import { refusedInSources } from '../../scripts/words/source.ts'
import { createPluginDirectory as createDirectory } from '../support/plugin-folders.ts'

test('docs: pages use the terms of the glossary', (t) => {
  t.deepEqual(refusedWords(path.resolve(import.meta.dirname, '../..')), [])
})

test('docs: a word that the glossary replaces is found with its line, but not in code, links or the glossary', (t) => {
  const page =
    '# A\n\nWhoever asks\n\n```sh\n# nobody\n```\n\n`tills` [x](tenants.md)\n\n## Glossary\n\n| caller | nobody |\n'
  const { path: root } = createDirectory(t, { 'docs/a.md': page })
  t.deepEqual(refusedWords(root), ['docs/a.md:3 has `Whoever`; use client, caller, user or operator'])
})

const SOURCE = `/** Whether the client is there. */
export const isThere = true

/**
 * Who asks.
 */
export function putAside(says: string): string {
  // Somebody is told.
  return says === 'told' ? 'the caller is told first' : 'fine'
}
`

test('source words: old words and crossword comments are found with file and line', (t) => {
  const { path: root } = createDirectory(t, {
    'clean/a.ts': SOURCE,
    'clean/b/c.ts': '// in-flight\n',
    'other/a.ts': SOURCE,
  })
  t.deepEqual(
    refusedInSources(root, ['clean']).map((fault) => fault.replace(/;.*/, '')),
    [
      'clean/a.ts:1 begins a doc comment with What, Whether, Who or Of',
      'clean/a.ts:5 begins a doc comment with What, Whether, Who or Of',
      'clean/a.ts:7 has `putAside`',
      'clean/a.ts:8 has `Somebody`',
      'clean/a.ts:8 has `told`',
      'clean/a.ts:9 has `told`',
    ],
  )
})

test('source words: a doc comment of nothing is found, but not a file’s first, or one of its design', (t) => {
  const design = '/** DESIGN. Two parts. */\n\n'
  const text = `/** About the file. */\n\nimport 'a'\n\n${design}/* Plain. */\n\n/** Old. */\n\n/** One. */\nexport const ONE = 1\n`
  const { path: root } = createDirectory(t, { 'clean/a.ts': text })
  const mend = 'move it to its declaration, begin it with `/*`, or remove it'
  t.deepEqual(refusedInSources(root, ['clean']), [`clean/a.ts:9 is a doc comment of nothing; ${mend}`])
})

test('source words: the strings of a word list are vocabulary, its comments are not', (t) => {
  const list = "/** Of a list. */\nexport const WORDS = 'somebody says that it stands there'\n"
  const { path: root } = createDirectory(t, { 'words/list.ts': list })
  t.deepEqual(
    refusedInSources(root, ['words'], ['words/list.ts']).map((fault) => fault.split(' ')[0]),
    ['words/list.ts:1'],
  )
})
