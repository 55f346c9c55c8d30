import path from 'node:path'
import { refusedInSources } from './words/source.ts'

/** Folders whose comments, messages and names use the terms of the glossary. Add yours when it is clean. */
const CLEAN = [
  'bench',
  'dashboard',
  'eval',
  'examples',
  'plugins',
  'scripts',
  'src/accounts',
  'src/app',
  'src/cli',
  'src/commerce',
  'src/config',
  'src/core',
  'src/dialects',
  'src/http',
  'src/journal',
  'src/logging',
  'src/pipeline',
  'src/plugin',
  'src/providers',
  'src/spend',
  'src/stores',
  'test/accounts',
  'test/agent',
  'test/attacks',
  'test/billing',
  'test/cli',
  'test/clients',
  'test/compress',
  'test/cost-guard',
  'test/dashboard',
  'test/docs',
  'test/exact-cache',
  'test/faults',
  'test/full-pipeline',
  'test/golden',
  'test/metrics',
  'test/newcomer',
  'test/packaging',
  'test/patterns',
  'test/payments',
  'test/plans',
  'test/providers',
  'test/prune-tools',
  'test/receipts',
  'test/soak',
  'test/stores',
  'test/support',
  'test/telemetry',
  'test/tracing',
  'test/witnesses',
]

/** Folders and files whose strings are vocabulary or a model's prompt; their comments are checked. */
const WORD_LISTS = [
  'plugins/patterns/word-lists.ts',
  'plugins/prune-tools/words',
  'plugins/semantic-cache/canonical',
  'plugins/semantic-cache/judge/prompt.ts',
  'src/spend/tokens/token-estimator.test.ts',
  'test/support/tool-catalogue.ts',
]

const faults = refusedInSources(path.resolve(import.meta.dirname, '..'), CLEAN, WORD_LISTS)
for (const fault of faults) console.error(fault)
if (faults.length > 0) process.exitCode = 1
