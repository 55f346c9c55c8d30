import { existsSync, readFileSync } from 'node:fs'
import { type Document, isMap, isNode, isScalar, LineCounter, parseDocument } from 'yaml'
import type { z } from 'zod'
import { messageOf } from '../../core/errors.ts'
import { suggest } from '../../core/nearest.ts'
import { PARSED_ONCE } from '../../core/parsed-once.ts'
import type { Target } from '../../core/request/exchange.ts'
import { inPlainWords } from '../../core/request/message.ts'
import { isAllComments } from '../../core/yaml-comments.ts'
import { fieldsAt, overridesSchema, type PriceEntry, type PriceOverrides } from './override-schema.ts'

const DEFAULT_FILE = 'config/prices.yaml'

/** Thrown for an invalid price file; its message lists every fault with its line. */
export class PriceFileError extends Error {
  override name = 'PriceFileError'
}

/**
 * Reads the operator's prices from a YAML file; without a name from `config/prices.yaml`, which is optional. Throws
 * `PriceFileError` that names the line and the field of each fault, and the nearest valid field for an unknown one.
 */
export function loadPriceOverrides(file?: string): PriceOverrides {
  if (file === undefined && !existsSync(DEFAULT_FILE)) return { models: [] }
  const name = file ?? DEFAULT_FILE
  const text = readPriceFile(name)
  if (isAllComments(text)) return { models: [] }
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const [broken] = document.errors
  if (broken !== undefined) {
    const { line, col } = lines.linePos(broken.pos[0])
    throw new PriceFileError(`\`${name}\` is not valid YAML at line ${line}, column ${col}: ${broken.message}`)
  }
  const parsed = overridesSchema.safeParse(plainValueOf(document, name), PARSED_ONCE)
  if (parsed.success) return parsed.data
  const faults = parsed.error.issues.flatMap((issue) => describeFault(issue, document, lines))
  throw new PriceFileError(`\`${name}\` cannot be used:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`)
}

/**
 * Finds the operator's entry for a target: an exact name takes precedence over a pattern, and an entry with a provider
 * over one without; among equals the first of the file.
 */
export function findEntry({ models }: PriceOverrides, { provider, model }: Target): PriceEntry | undefined {
  const own = models.filter((entry) => entry.provider === provider)
  const general = models.filter((entry) => entry.provider === undefined)
  const exact = (entry: PriceEntry) => entry.model === model
  const fits = (entry: PriceEntry) => entry.pattern?.whole.test(model) === true
  return own.find(exact) ?? general.find(exact) ?? own.find(fits) ?? general.find(fits)
}

function readPriceFile(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new PriceFileError(`The price file \`${file}\` cannot be read: ${messageOf(cause)}`, { cause })
  }
}

/** Returns the file's plain value. A file of comments, and a section with only comments, are empty. */
function plainValueOf(document: Document.Parsed, file: string): unknown {
  try {
    const value: unknown = document.toJS({ maxAliasCount: 100 }) ?? {}
    const isBare = typeof value === 'object' && value !== null && 'models' in value && value.models === null
    return isBare ? { ...value, models: [] } : value
  } catch (cause) {
    throw new PriceFileError(`\`${file}\` is not valid YAML: ${messageOf(cause)}`, { cause })
  }
}

function describeFault(issue: z.core.$ZodIssue, document: Document.Parsed, lines: LineCounter): string[] {
  const at = (path: readonly PropertyKey[]) => {
    const offset = offsetOf(document, path)
    return `${offset === undefined ? '' : `line ${lines.linePos(offset).line}: `}\`${path.join('.')}\``
  }
  if (issue.code !== 'unrecognized_keys') return [`${at(issue.path)}: ${inPlainWords(issue.message)}`]
  return issue.keys.map((key) => `${at([...issue.path, key])}: unknown field.${suggest(key, fieldsAt(issue.path))}`)
}

/** Returns the position of a path's field; of its object, when the field is missing. */
function offsetOf({ contents }: Document.Parsed, path: readonly PropertyKey[]): number | undefined {
  let node: unknown = contents
  let offset = contents?.range[0]
  for (const step of path) {
    const pair = isMap(node) ? node.items.find(({ key }) => isScalar(key) && key.value === step) : undefined
    const child: unknown = pair?.value ?? (isCollectionNode(node) ? node.get(step, true) : undefined)
    const place = isNode(pair?.key) ? pair.key : child
    if (!isNode(place)) break
    offset = place.range?.[0] ?? offset
    node = child
  }
  return offset
}

function isCollectionNode(node: unknown): node is { get(key: PropertyKey, keepScalar: boolean): unknown } {
  return typeof node === 'object' && node !== null && 'get' in node
}
