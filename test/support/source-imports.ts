import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

/** One import that a source file states. */
export interface SourceImport {
  /** The importing file, relative to the project's root, with forward slashes. */
  from: string
  /** The imported file in the same form for a relative import; else the specifier unchanged. */
  to: string
  isRelative: boolean
  /** True if it vanishes when types are stripped. */
  isTypeOnly: boolean
}

/** A source file of the project. */
export interface SourceFile {
  /** Relative to the project's root, with forward slashes. */
  file: string
  text: string
}

const STATEMENT = /^(import|export)\s+(type\s+)?([^'"`;]*?\sfrom\s+)?['"]([^'"]+)['"]/gm
const DYNAMIC = /\bimport\(\s*['"]([^'"]+)['"]\s*\)/g

/** Names of tests and of files that only tests use. */
export const TEST_FILE = /\.test\.ts$/

/** Reads the sources below a folder of the project, tests left out. */
export function readSources(root: string, folder: string): SourceFile[] {
  const files = readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
  return files
    .map((file) => path.posix.join(folder, file.replaceAll(path.sep, '/')))
    .filter((file) => /\.m?[jt]s$/.test(file) && !TEST_FILE.test(file) && !file.includes('node_modules/'))
    .sort()
    .map((file) => ({ file, text: readFileSync(path.join(root, file), 'utf8') }))
}

/** Lists the imports of a source file: statements, re-exports, type imports, and dynamic imports of a literal. */
export function importsOf({ file, text }: SourceFile): SourceImport[] {
  const statements = [...text.matchAll(STATEMENT)].map(([, , type, clause = '', specifier = '']) =>
    toImport(file, specifier, type !== undefined || namesTypesOnly(clause)),
  )
  const dynamic = [...text.matchAll(DYNAMIC)].map(([, specifier = '']) => toImport(file, specifier, false))
  return [...statements, ...dynamic]
}

function toImport(from: string, specifier: string, isTypeOnly: boolean): SourceImport {
  const isRelative = specifier.startsWith('.')
  const to = isRelative ? path.posix.join(path.posix.dirname(from), specifier) : specifier
  return { from, to, isRelative, isTypeOnly }
}

/** Returns whether a clause names types only: `{ type A, type B }` imports nothing at run time; `{ A, type B }` does. */
function namesTypesOnly(clause: string): boolean {
  const names = /^\{([^}]*)\}\s+from\s+$/
    .exec(clause)?.[1]
    ?.split(',')
    .map((name) => name.trim())
  const given = names?.filter((name) => name !== '') ?? []
  return given.length > 0 && given.every((name) => name.startsWith('type '))
}

/** Returns the first cycle among these imports, as the files on it; `undefined` when there is none. */
export function findCycle(imports: readonly SourceImport[]): string[] | undefined {
  const targets = Map.groupBy(imports, ({ from }) => from)
  const done = new Set<string>()
  const visit = (file: string, trail: readonly string[]): string[] | undefined => {
    if (trail.includes(file)) return [...trail.slice(trail.indexOf(file)), file]
    if (done.has(file)) return undefined
    for (const { to } of targets.get(file) ?? []) {
      const cycle = visit(to, [...trail, file])
      if (cycle !== undefined) return cycle
    }
    done.add(file)
    return undefined
  }
  for (const file of targets.keys()) {
    const cycle = visit(file, [])
    if (cycle !== undefined) return cycle
  }
  return undefined
}
