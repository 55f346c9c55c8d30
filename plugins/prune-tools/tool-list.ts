import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Tool } from 'turnpike/plugin'
import { children, parseJson } from 'turnpike/plugin/bytes'
import { type IndexedTool, ToolIndex } from './indexed-tool.ts'
import { mentionedIn } from './mentions.ts'
import { hasServers, parseNames, type ToolName } from './namespaces.ts'
import { readRequest } from './request-words.ts'
import { firstSentence } from './slim.ts'
import { type Scores, Toolbox } from './toolbox.ts'
import type { WordVectors } from './words/vectors.ts'

const MOST_LISTS = 50
/** Most tools of a list: more take a second to index, and no model accepts as many. */
const MOST_TOOLS = 2000
const MOST_BYTES = 4 * 1024 * 1024
const MOST_TEXTS = 200
/** Approximate memory that a list adds for a tool, for a term of it, and for a cached text, in bytes. */
const LISTED_BYTES = 400
const POSTING_BYTES = 150
const TEXT_BYTES = 500
const SCORE_BYTES = 20
const LEAST_SHARING = 3
/** Types of tools that the client runs; every other type is the provider's. */
const CLIENT_TYPES = new Set<unknown>([undefined, null, 'custom'])

/** Tool of a list, with its properties in the request. */
export interface ListedTool extends IndexedTool {
  readonly name: ToolName
  /** Excludes the tool from pruning: the provider's, the agent's own, marked for caching, or always included. */
  readonly isFixed: boolean
  /** Set when its schema is strict. */
  readonly isStrict: boolean
}

/** Indexed tools of a request. */
export interface ToolList {
  readonly tools: readonly ListedTool[]
  /** Positions of tools by their full names. */
  readonly indexes: ReadonlyMap<string, number>
  /** Estimated tokens. */
  readonly tokens: number
  /** Approximate memory, in bytes, including cached texts. */
  readonly bytes: number
  /** Number of tools that the client runs. */
  readonly clientTools: number
  /** Set when the client has its tools loaded on demand already. */
  readonly isOnDemand: boolean
  /** Indexes of the tools that are not fixed, by server; empty where names have no prefixes. */
  readonly namespaces: ReadonlyMap<string, readonly number[]>
  /** Scores each tool against a text. */
  score(text: string): Scores
  /** Returns the indexes of the tools that a text names. */
  mentioned(text: string): ReadonlySet<number>
}

/** Options of tool lists. */
export interface ToolListsOptions {
  readonly vectors: WordVectors
  readonly isAlwaysIncluded: (name: ToolName) => boolean
  readonly maxBytes: number
}

/** Indexes each tool list once: up to 50 are cached by their bytes, with their tools in `maxBytes` of memory. */
export class ToolLists {
  readonly #vectors: WordVectors
  readonly #index: ToolIndex
  readonly #isAlwaysIncluded: (name: ToolName) => boolean
  readonly #known: LRUCache<string, ToolList>

  constructor({ vectors, isAlwaysIncluded, maxBytes }: ToolListsOptions) {
    const half = Math.floor(maxBytes / 2)
    this.#vectors = vectors
    this.#index = new ToolIndex(vectors, half)
    this.#isAlwaysIncluded = isAlwaysIncluded
    this.#known = new LRUCache({ max: MOST_LISTS, maxSize: half, sizeCalculation: ({ bytes }) => bytes })
  }

  /** Number of cached lists. */
  get size(): number {
    return this.#known.size
  }

  /** Returns the list of `raw`, a JSON array of tools; `undefined` for more than 2,000 tools or 4 MB. */
  read(raw: Buffer): ToolList | undefined {
    if (raw.length > MOST_BYTES) return undefined
    const key = hash('sha256', raw, 'base64url')
    const known = this.#known.get(key)
    if (known !== undefined) return known
    // The request was validated when it was received.
    const parsed = parseJson(raw.toString()) as readonly Tool[]
    if (parsed.length > MOST_TOOLS) return undefined
    const list = this.#make(raw, parsed)
    this.#known.set(key, list)
    return list
  }

  #make(raw: Buffer, parsed: readonly Tool[]): ToolList {
    const ranges = children(raw.toString('latin1'), 0)
    const names = parseNames(parsed.map(({ name }) => name ?? ''))
    const hasOwn = hasServers(names)
    const leads = sharedLeads(parsed)
    const tools = parsed.map((tool, i): ListedTool => {
      // Safe: names and ranges are of the same array.
      const name = names[i]!
      const { start, end } = ranges[i]!
      const isOwn = hasOwn && name.namespace === undefined
      return {
        ...this.#index.index({ name, tool, raw: raw.subarray(start, end), lead: leads[i] ?? '' }),
        name,
        isFixed: isOwn || isMarked(tool) || this.#isAlwaysIncluded(name),
        isStrict: tool.strict === true,
      }
    })
    const toolbox = new Toolbox(tools)
    return {
      tools,
      bytes: listBytes(tools),
      indexes: new Map(tools.map(({ name }, i) => [name.full, i])),
      tokens: tools.reduce((sum, tool) => sum + tool.tokens, 0),
      clientTools: parsed.filter(({ type }) => CLIENT_TYPES.has(type)).length,
      isOnDemand: parsed.some(isOnDemand),
      namespaces: hasOwn ? groupByNamespace(tools) : new Map(),
      score: remembered((text) => toolbox.score(readRequest(text, this.#vectors))),
      mentioned: remembered((text) => mentionedIn(text, tools)),
    }
  }
}

function isOnDemand({ type, name, defer_loading: deferLoading }: Tool): boolean {
  const kind = type ?? ''
  return deferLoading === true || kind.startsWith('tool_search_tool') || kind === 'mcp_toolset' || name === 'ToolSearch'
}

/** Returns the first sentence of each description that at least three tools share, else an empty text. */
function sharedLeads(tools: readonly Tool[]): string[] {
  const leads = tools.map(({ description }) => firstSentence(description ?? ''))
  const counts = Map.groupBy(leads, (lead) => lead)
  return leads.map((lead, i) => {
    const isShared = (counts.get(lead)?.length ?? 0) >= LEAST_SHARING
    return isShared && tools[i]?.description?.startsWith(lead) ? lead : ''
  })
}

function isMarked({ type, name, cache_control: cacheControl }: Tool): boolean {
  return !CLIENT_TYPES.has(type) || !name || (cacheControl !== undefined && cacheControl !== null)
}

function listBytes(tools: readonly ListedTool[]): number {
  const ofTools = tools.reduce((sum, { bytes, terms }) => sum + bytes + LISTED_BYTES + POSTING_BYTES * terms.size, 0)
  return ofTools + MOST_TEXTS * (TEXT_BYTES + SCORE_BYTES * tools.length)
}

/** Memoises a function for the last 200 texts. */
function remembered<Found extends object>(find: (text: string) => Found): (text: string) => Found {
  const known = new LRUCache<string, Found>({ max: MOST_TEXTS })
  return (text) => {
    const key = hash('sha1', text, 'base64url')
    const found = known.get(key) ?? find(text)
    known.set(key, found)
    return found
  }
}

function groupByNamespace(tools: readonly ListedTool[]): Map<string, number[]> {
  const groups = new Map<string, number[]>()
  tools.forEach(({ name: { namespace }, isFixed }, i) => {
    if (isFixed || namespace === undefined) return
    const group = groups.get(namespace)
    if (group === undefined) groups.set(namespace, [i])
    else group.push(i)
  })
  return groups
}
