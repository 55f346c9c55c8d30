import { type FSWatcher, statSync, watch } from 'node:fs'
import path from 'node:path'
import type { Log } from 'turnpike/plugin'
import { readPatterns } from './pattern-file.ts'
import { createPatternSet, type PatternSet } from './pattern-set.ts'

/** Debounce: editors save in several steps, so the folders are read once they have been quiet for this long. */
const QUIET_MS = 150
/** Most versions of the patterns that are kept for older conversations. */
const MOST_SETS = 8

/** Default directories, which may be missing. */
export const DEFAULT_DIRECTORIES = ['config/patterns']

/** Reads the patterns of all directories; of two with the same name the one in the earlier directory applies. */
export function readLibrary(directories: readonly string[], version = 0): PatternSet {
  const byName = new Map<string, ReturnType<typeof readPatterns>[number]>()
  for (const directory of directories.filter(isThere)) {
    for (const read of readPatterns(path.resolve(directory))) if (!byName.has(read.name)) byName.set(read.name, read)
  }
  return createPatternSet([...byName.values()], version)
}

/** Tests for a directory. Throws when a configured one is missing. */
function isThere(directory: string): boolean {
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory()) return true
  if (DEFAULT_DIRECTORIES.includes(directory)) return false
  throw new Error(`\`dirs\` names \`${directory}\`, and there is no such directory`)
}

/** Throws when a configured directory is missing. */
export function assertThere(directories: readonly string[]): void {
  for (const directory of directories) isThere(directory)
}

interface LibraryOptions {
  readonly directories: readonly string[]
  readonly isWatched: boolean
  readonly log: Log
}

/** Current and recent versions of the patterns. Reads them again when a file changes. */
export class Library {
  readonly #options: LibraryOptions
  readonly #watchers: FSWatcher[]
  #sets: readonly [PatternSet, ...PatternSet[]]
  #timer: NodeJS.Timeout | undefined

  constructor(options: LibraryOptions) {
    this.#options = options
    this.#sets = [readLibrary(options.directories)]
    this.#tellFaults()
    this.#watchers = options.isWatched ? options.directories.filter(isThere).flatMap((name) => this.#watch(name)) : []
  }

  /** Newest version. */
  get current(): PatternSet {
    return this.#sets[0]
  }

  /** Returns a version of the patterns; the newest when that one is no longer kept. */
  at(version: number): PatternSet {
    return this.#sets.find((set) => set.version === version) ?? this.current
  }

  close(): void {
    clearTimeout(this.#timer)
    for (const watcher of this.#watchers) watcher.close()
  }

  #watch(directory: string): FSWatcher[] {
    const { log } = this.#options
    try {
      const watcher = watch(directory, { recursive: true, persistent: false })
      watcher.on('change', () => {
        clearTimeout(this.#timer)
        this.#timer = setTimeout(() => this.#reload(), QUIET_MS).unref()
      })
      watcher.on('error', (err) => log.warn({ directory, err }, 'patterns.unwatched'))
      return [watcher]
    } catch (err) {
      log.warn({ directory, err }, 'patterns.unwatched')
      return []
    }
  }

  #reload(): void {
    const { directories, log } = this.#options
    try {
      const set = readLibrary(directories, this.current.version + 1)
      this.#sets = [set, ...this.#sets.slice(0, MOST_SETS - 1)]
      this.#tellFaults()
      log.info({ patterns: set.patterns.size, faults: set.faults.length }, 'patterns.reloaded')
    } catch (err) {
      log.error({ err }, 'patterns.reload-failed')
    }
  }

  #tellFaults(): void {
    for (const { name, file, reason } of this.current.faults)
      this.#options.log.warn({ pattern: name, file, reason }, 'pattern.broken')
  }
}
