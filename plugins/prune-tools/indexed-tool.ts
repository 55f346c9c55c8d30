import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Tool } from 'turnpike/plugin'
import { compactCopy } from 'turnpike/plugin/bytes'
import type { ToolName } from './namespaces.ts'
import { slimTool } from './slim.ts'
import { splitWords } from './words/split.ts'
import { stem } from './words/stem.ts'
import { directionOf, type WordVectors } from './words/vectors.ts'

/** Weight of a word by its place. */
const FIELD_WEIGHTS = { name: 3, description: 1, namespace: 1, parameter: 0.7, parameterText: 0.4 }
const MEANING_WEIGHTS = { name: 4, description: 1, namespace: 1, parameter: 0.3 }
const DEEPEST_SCHEMA = 5
const LONGEST_TEXT = 4000
/** Most words of a tool's parameters that are indexed: the first ones describe its purpose. */
const MOST_PARAMETER_WORDS = 1000
/** Bytes of tool definitions per token: measured with o200k. */
const BYTES_PER_TOKEN = 3.82
const MOST_TOOLS = 10_000
/**
 * Approximate memory of a tool, and of one of its terms, in bytes. Measured on Node 26, with the share of lists: 1,120
 * and 245.
 */
const TOOL_BYTES = 800
const TERM_BYTES = 100

/** Index of one tool, independent of its list. */
export interface IndexedTool {
  /** Stems with their weights. */
  readonly terms: ReadonlyMap<string, number>
  readonly length: number
  /** Direction of its words' vectors. */
  readonly direction: Float32Array
  /** Bytes without prose; `undefined` when it cannot be shortened. */
  readonly slim: Buffer | undefined
  readonly tokens: number
  readonly slimTokens: number
  /** Approximate memory, in bytes. */
  readonly bytes: number
}

/** Tool as it is in a request. */
export interface RawTool {
  readonly name: ToolName
  readonly raw: Buffer
  readonly tool: Tool
  /** Beginning of its description that other tools of the list share; or empty. */
  readonly lead: string
}

/** Estimates the tokens of a tool definition: a pure function of the bytes, so that no threshold moves. */
export function estimateTokens(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN)
}

/** Indexes each tool once: up to 10,000 are cached by their bytes, in `maxBytes` of memory. */
export class ToolIndex {
  readonly #vectors: WordVectors
  readonly #known: LRUCache<string, IndexedTool>

  constructor(vectors: WordVectors, maxBytes: number) {
    this.#vectors = vectors
    this.#known = new LRUCache({ max: MOST_TOOLS, maxSize: maxBytes, sizeCalculation: ({ bytes }) => bytes })
  }

  index(tool: RawTool): IndexedTool {
    // A strong digest: cached definitions are sent to providers for any caller with the same bytes.
    const key = `${hash('sha256', tool.raw, 'base64url')} ${tool.name.namespace ?? ''} ${tool.lead.length}`
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const indexed = indexTool(tool, this.#vectors)
    this.#known.set(key, indexed)
    return indexed
  }
}

function indexTool({ name, raw, tool, lead }: RawTool, vectors: WordVectors): IndexedTool {
  const words = wordsOf(name, tool)
  const terms = new Map<string, number>()
  for (const field of fieldNames) for (const word of words[field]) add(terms, stem(word), FIELD_WEIGHTS[field])
  const slim = slimOrRaw(raw, tool, lead)
  return {
    terms,
    length: [...terms.values()].reduce((sum, weight) => sum + weight, 0),
    direction: directionOf(vectors, meaning(words)),
    slim: slim === raw ? undefined : compactCopy(slim),
    tokens: estimateTokens(raw.length),
    slimTokens: estimateTokens(slim.length),
    // Long terms are views of texts of the definition.
    bytes: TOOL_BYTES + TERM_BYTES * terms.size + 2 * raw.length,
  }
}

/** Returns the slim tool, or the raw one when a duplicate name makes it uneditable. */
function slimOrRaw(raw: Buffer, tool: Tool, lead: string): Buffer {
  try {
    return slimTool(raw, tool, lead)
  } catch {
    return raw
  }
}

type Field = keyof typeof FIELD_WEIGHTS
type Words = Record<Field, string[]>

const fieldNames: readonly Field[] = ['name', 'description', 'namespace', 'parameter', 'parameterText']

function wordsOf({ namespace, bare }: ToolName, { description, input_schema: schema }: Tool): Words {
  const words: Words = {
    name: wordsIn(bare),
    description: wordsIn(description ?? ''),
    namespace: wordsIn(namespace ?? ''),
    parameter: [],
    parameterText: [],
  }
  addParameters(words, schema, 0)
  return words
}

function addParameters(words: Words, schema: unknown, depth: number): void {
  if (!isObject(schema) || depth > DEEPEST_SCHEMA) return
  for (const [name, inner] of Object.entries(isObject(schema.properties) ? schema.properties : {})) {
    if (words.parameter.length + words.parameterText.length >= MOST_PARAMETER_WORDS) return
    words.parameter.push(...wordsIn(name))
    if (!isObject(inner)) continue
    if (typeof inner.description === 'string') words.parameterText.push(...wordsIn(inner.description))
    if (Array.isArray(inner.enum)) words.parameterText.push(...wordsIn(inner.enum.join(' ')))
    addParameters(words, inner, depth + 1)
  }
  addParameters(words, schema.items, depth + 1)
}

/** Returns the words of a text, or of its beginning, which describes the purpose. */
function wordsIn(text: string): string[] {
  return splitWords(text.slice(0, LONGEST_TEXT))
}

function* meaning(words: Words): Iterable<readonly [string, number]> {
  for (const field of ['name', 'description', 'namespace', 'parameter'] as const)
    for (const word of words[field]) yield [word, MEANING_WEIGHTS[field]]
}

function add(terms: Map<string, number>, term: string, weight: number): void {
  terms.set(term, (terms.get(term) ?? 0) + weight)
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
