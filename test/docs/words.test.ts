import path from 'node:path'
import test from 'ava'
import { refusedWords } from '../../scripts/docs/words.ts'
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
