import { globSync } from 'node:fs'
import path from 'node:path'
import type { OutputOptions, Plugin } from 'rolldown'

/** Modules that only a gateway's start loads, as one file: 80 files more would take 4 MB and 30 ms of CPU. */
export interface StartChunk {
  readonly plugin: Plugin
  readonly codeSplitting: NonNullable<OutputOptions['codeSplitting']>
}

/**
 * Groups the imports of `start` that none of `others` has into one file: a thread or a small command does not load the
 * gateway. Providers are imported by name, where the sources list their folder at run time.
 */
export function createStartChunk(root: string, { start, others }: { start: string; others: string[] }): StartChunk {
  const modules = new Set<string>()
  return {
    plugin: {
      name: 'start-chunk',
      load: (id) => (id === path.join(root, 'src/providers/kinds.ts') ? namedKinds(root) : undefined),
      buildEnd() {
        const importsOf = (id: string) => this.getModuleInfo(id)?.importedIds ?? []
        collect(modules, [start], importsOf)
        const elsewhere = new Set<string>()
        collect(elsewhere, others, importsOf)
        for (const id of [start, ...elsewhere]) modules.delete(id)
      },
    },
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [{ name: 'gateway', test: (id) => modules.has(id) }],
    },
  }
}

/** Adds the modules and their static imports to `found`. */
function collect(found: Set<string>, ids: readonly string[], importsOf: (id: string) => readonly string[]): void {
  for (const id of ids) {
    if (found.has(id)) continue
    found.add(id)
    collect(found, importsOf(id), importsOf)
  }
}

function namedKinds(root: string): string {
  const files = globSync('src/providers/*/index.ts', { cwd: root }).sort()
  const imports = files.map((file, i) => `import { kind as kind${i} } from '${path.join(root, file)}'`)
  return `${imports.join('\n')}\nexport const providerKinds = [${files.map((_, i) => `kind${i}`).join(', ')}]\n`
}
