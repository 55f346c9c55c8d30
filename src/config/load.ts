import { existsSync, readFileSync } from 'node:fs'
import { type Document, isNode, isScalar, LineCounter, parseDocument, visit } from 'yaml'
import type { z } from 'zod'
import { messageOf } from '../core/errors.ts'
import { suggest } from '../core/nearest.ts'
import { PARSED_ONCE } from '../core/parsed-once.ts'
import { inPlainWords } from '../core/request/message.ts'
import { hideSecrets } from '../core/secrets.ts'
import { isAllComments } from '../core/yaml-comments.ts'
import { ConfigError } from './config-error.ts'
import { unknownVariables } from './known-variables.ts'
import { withGuardLocked } from './locked-guard.ts'
import { ANY_NAME, isList, listOptions, memberOf, type Option, shapeOf } from './options.ts'
import { type Config, configSchema, PLUGIN_SETTINGS } from './schema.ts'
import { withVariables } from './variables.ts'
import { wordsOfYaml } from './yaml-words.ts'

/** Source of an option's value; `dashboard`: a stored change (see `overlay.ts`). */
export type ConfigSource = 'default' | 'file' | 'environment' | 'dashboard'

/** Effective configuration, and the source of each value (by dotted path). */
export interface LoadedConfig {
  readonly config: Config
  readonly file: string | undefined
  readonly sourceOf: (path: string) => ConfigSource
}

const DEFAULT_FILE = 'config/turnpike.yaml'
/** Deepest nesting of a configuration file, in levels. */
const DEEPEST = 50
const LIST_SEPARATORS: Record<string, string> = { SVC_PLUGINS_DIR: ':' }

/**
 * Reads the configuration file (`SVC_CONFIG`, else `config/turnpike.yaml` when it exists) and overrides it from `env`.
 * Throws `ConfigError` that names each unknown key and each unknown `SVC_…` variable with the nearest valid one, and
 * each invalid value with the expected form.
 */
export function loadConfig(env: NodeJS.ProcessEnv): LoadedConfig {
  const file = env.SVC_CONFIG || (existsSync(DEFAULT_FILE) ? DEFAULT_FILE : undefined)
  const { written, lineOf } = file === undefined ? NO_FILE : readConfigFile(file)
  // Safe: a map remains a map.
  const raw = withVariables(written, env) as Record<string, unknown>
  const sources = new Map<string, ConfigSource>()
  for (const path of leafPaths(raw)) sources.set(path, 'file')
  for (const option of listOptions(configSchema)) {
    const value = option.env === undefined ? undefined : valueFromEnv(option, env)
    if (value === undefined) continue
    setPath(raw, option.path, value)
    sources.set(option.path.join('.'), 'environment')
  }
  const parsed = configSchema.safeParse(raw, PARSED_ONCE)
  const unknown = unknownVariables(env, written)
  if (!parsed.success || unknown.length > 0) {
    const faults = [...unknown, ...(parsed.success ? [] : describeFaults(parsed.error, { raw, lineOf, sources }))]
    // A secret may be misplaced: in a name, or as the value of another option.
    throw new ConfigError(hideSecrets(listFaults(faults, file)))
  }
  return { config: withGuardLocked(parsed.data), file, sourceOf: (path) => sourceAt(sources, path) }
}

/** Returns the source of an option; for a map, the source of the first of its members that has one. */
function sourceAt(sources: ReadonlyMap<string, ConfigSource>, path: string): ConfigSource {
  const within = [...sources].find(([name]) => name === path || name.startsWith(`${path}.`))
  return within?.[1] ?? 'default'
}

/** Returns the options of plugins in the configuration, by plugin name, unparsed. */
export function pluginOptions(config: Config): Map<string, Record<string, unknown>> {
  const entries = Object.entries(config.plugins).filter(([key]) => !PLUGIN_SETTINGS.includes(key))
  // The schema's catch-all makes every other key a record.
  return new Map(entries as [string, Record<string, unknown>][])
}

/** Parsed configuration file. */
interface ConfigFile {
  readonly written: Record<string, unknown>
  /** Returns the line of an option's value, from 1; `undefined` for an option that is not in the file. */
  readonly lineOf: (path: readonly PropertyKey[]) => number | undefined
}

const NO_FILE: ConfigFile = { written: {}, lineOf: () => undefined }

function readConfigFile(file: string): ConfigFile {
  if (!existsSync(file)) throw new ConfigError(`Configuration file \`${file}\` does not exist (named by SVC_CONFIG).`)
  const text = readFileSync(file, 'utf8')
  if (isAllComments(text)) return NO_FILE
  const lines = new LineCounter()
  const document = parseYaml(text, { file, lines })
  const [fault] = document.errors
  if (fault !== undefined) {
    const { line, col } = lines.linePos(fault.pos[0])
    throw new ConfigError(
      `Configuration file \`${file}\` is not valid YAML at line ${line}, column ${col}: ${wordsOfYaml(fault.code)}.`,
    )
  }
  const value: unknown = plainValueOf(document, file) ?? {}
  if (!isMap(value)) {
    throw new ConfigError(`Configuration file \`${file}\`: expected a map of options at the top level.`)
  }
  return { written: withoutNulls(value), lineOf: (path) => lineIn(document, { path, lines }) }
}

function lineIn(
  document: Document.Parsed,
  { path, lines }: { path: readonly PropertyKey[]; lines: LineCounter },
): number | undefined {
  const node = document.getIn(path, true)
  return isNode(node) && node.range ? lines.linePos(node.range[0]).line : undefined
}

function parseYaml(text: string, { file, lines }: { file: string; lines: LineCounter }): Document.Parsed {
  try {
    // Pretty errors and warnings quote the file, which may hold a secret.
    return parseDocument(text, { prettyErrors: false, lineCounter: lines, logLevel: 'error' })
  } catch (cause) {
    throw new ConfigError(`Configuration file \`${file}\` is not valid YAML: it cannot be parsed completely.`, {
      cause,
    })
  }
}

/**
 * Returns the document as a plain value. Throws when an alias is undefined, expands without bound, or nests too deep.
 */
function plainValueOf(document: Document.Parsed, file: string): unknown {
  try {
    assertNames(document)
    const value: unknown = document.toJS({ maxAliasCount: 100 })
    assertFinite(value)
    return value
  } catch (cause) {
    // The parser's own message quotes the alias, which may be a secret that begins with an asterisk.
    const isAlias = cause instanceof ReferenceError
    const reason = isAlias
      ? 'it has an alias (`*…`) without an anchor, or too many of them. A text that begins with `*` needs quotes.'
      : messageOf(cause)
    throw new ConfigError(`Configuration file \`${file}\` is not valid YAML: ${reason}`, { cause })
  }
}

/** Throws for a list or a map as a key: it would be printed as a name, and takes minutes when it is nested. */
function assertNames(document: Document.Parsed): void {
  visit(document, {
    Pair(_, { key }) {
      if (key !== null && !isScalar(key)) throw new Error('a key is a list, a map or an alias; expected a name.')
    },
  })
}

/** Throws for a list that nests without bound through an alias to itself. */
function assertFinite(value: unknown, depth = 0): void {
  if (depth > DEEPEST) throw new Error(`it is nested deeper than ${DEEPEST} levels.`)
  if (typeof value !== 'object' || value === null) return
  for (const member of Object.values(value)) assertFinite(member, depth + 1)
}

/** Removes keys without a value, such as a section whose options are all commented out: they count as unset. */
export function withoutNulls(node: Record<string, unknown>): Record<string, unknown> {
  const kept = Object.entries(node).filter(([, value]) => value !== null)
  return Object.fromEntries(kept.map(([key, value]) => [key, isMap(value) ? withoutNulls(value) : value]))
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Reads an option's environment variable; lower-case spellings count too, as is usual for proxies. */
function valueFromEnv(option: Option, env: NodeJS.ProcessEnv): unknown {
  const name = option.env ?? ''
  const text = env[name] || env[name.toLowerCase()]
  if (text === undefined || text === '') return undefined
  if (!isList(option.schema)) return text
  return text
    .split(LIST_SEPARATORS[name] ?? ',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}

function setPath(target: Record<string, unknown>, path: readonly string[], value: unknown): void {
  let node = target
  for (const key of path.slice(0, -1)) {
    if (typeof node[key] !== 'object' || node[key] === null) node[key] = {}
    node = node[key] as Record<string, unknown>
  }
  const last = path.at(-1)
  if (last !== undefined) node[last] = value
}

function leafPaths(value: unknown, prefix = ''): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [prefix]
  return Object.entries(value).flatMap(([key, child]) => leafPaths(child, prefix === '' ? key : `${prefix}.${key}`))
}

function listFaults(faults: readonly string[], file: string | undefined): string {
  const place = file === undefined ? '' : ` (\`${file}\` and the environment)`
  return `The configuration${place} cannot be used:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`
}

interface Written extends Pick<ConfigFile, 'lineOf'> {
  readonly raw: Record<string, unknown>
  readonly sources: ReadonlyMap<string, ConfigSource>
}

function describeFaults(error: z.ZodError, { raw, lineOf, sources }: Written): string[] {
  const at = (path: readonly PropertyKey[]) => {
    const line = sources.get(path.join('.')) === 'environment' ? undefined : lineOf(path)
    return line === undefined ? '' : `line ${line}: `
  }
  return error.issues.map((issue) => {
    const path = issue.path.join('.')
    if (issue.code === 'unrecognized_keys') {
      return issue.keys
        .map(
          (key) =>
            `${at([...issue.path, key])}unknown option \`${path === '' ? key : `${path}.${key}`}\`.${suggest(key, keysAt(issue.path))}`,
        )
        .join(' ')
    }
    return `${at(issue.path)}\`${path}\`: ${inPlainWords(issue.message)}${holdsSecret(issue.path) ? '' : got(valueAt(raw, issue.path))}`
  })
}

function keysAt(path: readonly PropertyKey[]): string[] {
  let schema: z.ZodType | undefined = configSchema
  for (const key of path) schema = schema && memberOf(schema, String(key))
  return Object.keys((schema && shapeOf(schema)) ?? {})
}

/** Tests for a value that is a secret, is part of one, or is a section that has one. */
function holdsSecret(path: readonly PropertyKey[]): boolean {
  const secrets = listOptions(configSchema).filter(({ secret }) => secret === true)
  return secrets.some((option) =>
    option.path.slice(0, path.length).every((key, i) => key === ANY_NAME || key === String(path[i])),
  )
}

function valueAt(raw: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((node, key) => (node as Record<PropertyKey, unknown> | undefined)?.[key], raw)
}

function got(value: unknown): string {
  return value === undefined ? '' : ` (got \`${JSON.stringify(value)}\`)`
}
