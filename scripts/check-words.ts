import path from 'node:path'
import { refusedInSources } from './words/source.ts'

/** Folders whose comments, messages and names use the terms of the glossary. */
const FOLDERS = ['bench', 'dashboard', 'eval', 'examples', 'plugins', 'scripts', 'src', 'test']

/** Folders and files whose strings are vocabulary or a model's prompt; their comments are checked. */
const WORD_LISTS = [
  'plugins/patterns/word-lists.ts',
  'plugins/prune-tools/words',
  'plugins/semantic-cache/canonical',
  'plugins/semantic-cache/judge/prompt.ts',
  'src/spend/tokens/token-estimator.test.ts',
  'test/support/tool-catalogue.ts',
]

const faults = refusedInSources(path.resolve(import.meta.dirname, '..'), FOLDERS, WORD_LISTS)
for (const fault of faults) console.error(fault)
if (faults.length > 0) process.exitCode = 1
