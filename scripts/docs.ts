/**
 * DESIGN — generated documentation
 *
 *   zod schemas ─────┬──► docs/reference/configuration.md, config/turnpike.yaml
 *                    └──► docs/reference/plugins.md, the option table in each plugins/<name>/README.md
 *   errorCatalogue ─────► docs/reference/errors.md
 *   the OpenAPI document ► docs/reference/http.md
 *   bench/RESULTS.md ────► the figures in docs/comparison.md
 *   METRICS ────────────► docs/reference/metrics.md
 *   the command's help ─► docs/reference/cli.md
 *   package-lock.json ──► docs/reference/licences.md
 *   the fault matrix ───► the tables in docs/reliability.md
 *   bench/sizing ───────► the tables of machines and costs in docs/scaling.md
 *
 * Facts of the source are not written a second time. `node scripts/docs.ts` writes the files; with `--check` it
 * writes nothing, prints a line for each stale file, broken link and word that the glossary replaces, and exits with 1.
 * The same source gives the same bytes: no dates, no order that depends on the machine.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { commandLinePage } from './docs/command-line.ts'
import { comparisonPage } from './docs/comparison-page.ts'
import { configurationFile } from './docs/configuration-file.ts'
import { configurationPage } from './docs/configuration-page.ts'
import { errorsPage } from './docs/errors-page.ts'
import { httpPage } from './docs/http-page.ts'
import { licencesPage } from './docs/licences-page.ts'
import { brokenLinks } from './docs/links.ts'
import { metricsPage } from './docs/metrics-page.ts'
import { loadPluginDefinitions, pluginReadme, pluginsPage } from './docs/plugins-page.ts'
import { reliabilityPage } from './docs/reliability-page.ts'
import { scalingPage } from './docs/scaling-page.ts'
import { refusedWords } from './docs/words.ts'

const ROOT = path.resolve(import.meta.dirname, '..')
const RELIABILITY = 'docs/reliability.md'
const SCALING = 'docs/scaling.md'

/** Renders every generated file, by its path from the root. */
async function render(): Promise<Map<string, string>> {
  const plugins = await loadPluginDefinitions()
  const files = new Map([
    ['config/turnpike.yaml', configurationFile(plugins)],
    ['docs/reference/configuration.md', configurationPage()],
    ['docs/reference/errors.md', errorsPage()],
    ['docs/reference/http.md', httpPage()],
    ['docs/reference/metrics.md', metricsPage()],
    ['docs/reference/plugins.md', pluginsPage(plugins)],
    ['docs/comparison.md', comparisonPage(read('docs/comparison.md') ?? '', read('bench/RESULTS.md') ?? '')],
    ['docs/reference/cli.md', await commandLinePage()],
    ['docs/reference/licences.md', licencesPage(ROOT)],
    [RELIABILITY, reliabilityPage(read(RELIABILITY) ?? '')],
    [SCALING, scalingPage(read(SCALING) ?? '')],
  ])
  for (const plugin of plugins) {
    const file = `plugins/${plugin.name}/README.md`
    files.set(file, pluginReadme(plugin, read(file)))
  }
  return files
}

function read(file: string): string | undefined {
  try {
    return readFileSync(path.join(ROOT, file), 'utf8')
  } catch {
    return undefined
  }
}

function write(file: string, text: string): void {
  mkdirSync(path.dirname(path.join(ROOT, file)), { recursive: true })
  writeFileSync(path.join(ROOT, file), text)
  console.log(`wrote ${file}`)
}

const stale = [...(await render())].filter(([file, text]) => read(file) !== text)
if (process.argv.includes('--check')) {
  const outdated = stale.map(([file]) => `${file} is stale: run \`npm run docs\``)
  const faults = [...outdated, ...brokenLinks(ROOT), ...refusedWords(ROOT)]
  for (const fault of faults) console.error(fault)
  if (faults.length > 0) process.exitCode = 1
} else {
  for (const [file, text] of stale) write(file, text)
}
