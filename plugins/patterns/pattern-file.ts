import { readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { LineCounter, parseDocument } from 'yaml'
import { type FrontMatter, manualFrontMatter, parseFrontMatter, parseSkill } from './pattern-schema.ts'

/** Pattern as read from its file. */
export interface PatternFile extends FrontMatter {
  readonly name: string
  readonly file: string
  /** Text to inject, with its variables. */
  readonly body: string
}

/** Invalid pattern, with the reason. */
export interface PatternFault {
  readonly name: string
  readonly file: string
  readonly reason: string
}

/** File names by precedence in a folder: the gateway's, that of Agent Skills, that of fabric. */
const FILE_NAMES = ['PATTERN.md', 'SKILL.md', 'system.md']
const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/
const LARGEST_FILE_BYTES = 256 * 1024
const MOST_PATTERNS = 2000
const FENCE = /^---\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/

/**
 * Reads the folders of a directory in the order of their names. An invalid pattern is a fault and does not affect the
 * others. Throws when there is no such directory.
 */
export function readPatterns(directory: string): (PatternFile | PatternFault)[] {
  const names = readdirSync(directory).sort()
  const found = names.flatMap((name) => {
    const file = FILE_NAMES.map((base) => path.join(directory, name, base)).find(isFile)
    return file === undefined ? [] : [{ name, file }]
  })
  if (found.length > MOST_PATTERNS)
    throw new Error(`\`${directory}\` holds ${found.length} patterns, expected at most ${MOST_PATTERNS}`)
  return found.map(({ name, file }) => readPattern(name, file))
}

function isFile(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isFile() ?? false
}

function readPattern(name: string, file: string): PatternFile | PatternFault {
  try {
    if (!NAME.test(name))
      throw new Error(`expected a folder name of small letters, digits, \`-\` and \`_\`, at most 64, got \`${name}\``)
    const size = statSync(file).size
    if (size > LARGEST_FILE_BYTES) throw new Error(`the file has ${size} bytes, expected at most ${LARGEST_FILE_BYTES}`)
    return { ...parsePattern(path.basename(file), name, readFileSync(file, 'utf8')), file }
  } catch (error) {
    return { name, file, reason: error instanceof Error ? error.message : String(error) }
  }
}

/** Parses a pattern's file. Throws an `Error` that names the fault. */
export function parsePattern(fileName: string, name: string, source: string): Omit<PatternFile, 'file'> {
  const { matter, body } = split(source.replace(/^\uFEFF/, ''))
  const front = toFrontMatter(fileName, matter)
  if (fileName === 'PATTERN.md' && front.name !== undefined && front.name !== name)
    throw new Error(`its name is \`${front.name}\`, expected that of its folder, \`${name}\``)
  if (body === '') throw new Error('expected a text after the front matter, got none')
  return { ...front, name, body }
}

function toFrontMatter(fileName: string, matter: string | undefined): FrontMatter {
  if (fileName === 'PATTERN.md') return parseFrontMatter(matter === undefined ? {} : readYaml(matter))
  if (fileName === 'SKILL.md') return parseSkill(matter === undefined ? {} : readYaml(matter))
  return manualFrontMatter({})
}

function split(source: string): { matter: string | undefined; body: string } {
  const found = FENCE.exec(source)
  if (found === null) return { matter: undefined, body: source.trim() }
  return { matter: found[1] ?? '', body: source.slice(found[0].length).trim() }
}

function readYaml(matter: string): unknown {
  const lines = new LineCounter()
  const document = parseDocument(matter, { prettyErrors: false, lineCounter: lines })
  const [fault] = document.errors
  if (fault !== undefined) {
    const { line, col } = lines.linePos(fault.pos[0])
    // The first line of the file is the fence.
    throw new Error(`the front matter is not valid YAML at line ${line + 1}, column ${col}: ${fault.message}`)
  }
  return document.toJS({ maxAliasCount: 100 }) ?? {}
}
