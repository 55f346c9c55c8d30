import { globSync } from 'node:fs'

/** Packages may be installed within our folders, as those of `test/witnesses` are. */
const OF_OTHERS = '**/node_modules/**'

/** Lists the files of the patterns, in order, without those of packages. Paths are relative to `root`. */
export function ownFiles(patterns: readonly string[], root: string, exclude: readonly string[] = []): string[] {
  return globSync(patterns, { cwd: root, exclude: [OF_OTHERS, ...exclude] }).sort()
}
