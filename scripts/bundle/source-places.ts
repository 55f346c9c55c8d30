import { readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import path from 'node:path'

const ROOT = path.resolve(import.meta.dirname, '../..')
/** Matches a position in the bundle of the sources for tests, as stacks print it. */
const PLACE = /(?:file:\/\/)?([^\s()]*\.cache\/turnpike\/sources\/[^\s():]+\.mjs):(\d+):(\d+)/g
/** Distinguishes the modules of a thread's test files (`test/support/bundled-sources.mjs`). */
const FILE_OF_THREAD = /(?<=\.ts)\?file=\d+/g
const maps = new Map<string, SourceMap | undefined>()

/**
 * Replaces positions in the bundle for tests by those in the sources. A map is read when a line first names its file:
 * Node's own option reads all of them in each thread of tests, even if no test fails.
 */
export function nameSources(line: string): string {
  return line
    .replace(FILE_OF_THREAD, '')
    .replace(PLACE, (place, file: string, lineOfBundle: string, column: string) => {
      const entry = mapOf(path.resolve(ROOT, file))?.findEntry(Number(lineOfBundle) - 1, Number(column) - 1)
      if (entry === undefined || !('originalSource' in entry)) return place
      const source = path.resolve(path.dirname(path.resolve(ROOT, file)), entry.originalSource)
      return `${path.relative(ROOT, source)}:${entry.originalLine + 1}:${entry.originalColumn + 1}`
    })
}

function mapOf(file: string): SourceMap | undefined {
  if (!maps.has(file)) maps.set(file, readMap(file))
  return maps.get(file)
}

function readMap(file: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8')))
  } catch {
    return undefined
  }
}
