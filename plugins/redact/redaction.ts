import type { Exchange } from 'turnpike/plugin'
import { type Finding, type Kind, withoutOverlaps } from './detect/finding.ts'
import type { Scan } from './detect/scan.ts'
import { type Literal, LiteralFinder } from './literals.ts'
import type { Placeholders } from './placeholders.ts'
import { unreadAt } from './unread.ts'

/** Figures of a scanned request; never a value. */
export interface ScanFigures {
  readonly texts: number
  readonly characters: number
  /** Distinct values by kind. */
  readonly kinds: Readonly<Partial<Record<Kind, number>>>
  readonly places: number
  /** Parts that could not be read, by what they are; signed and encrypted parts of providers are `own`. */
  readonly unread: Readonly<Record<string, number>>
  /** True where the operator's detector has failed, and the request goes on without it. */
  readonly hasDetectorFailed: boolean
  /** True where the request has more than is searched: the rest was not read, and the request is refused. */
  readonly isStopped: boolean
}

/** Most distinct values of a request: each costs a digest and an entry. */
const MOST_VALUES = 10_000
/** Shorter values are too common to be replaced wherever they are. */
const SHORTEST_LITERAL = 6

/** Headers that some provider receives without an option of the operator. */
const FORWARDED_HEADER =
  /^(?:(?:anthropic|openai|provider|x-stainless|x-claude-code)-|(?:accept-language|user-agent|x-app|idempotency-key)$)/

/** Error of a request with too many values to replace. */
export class TooManyValues extends Error {}

/**
 * Findings in one request. A value that is found once is found everywhere in it: in a reply of the model it is without the
 * word that revealed it, and would pass otherwise.
 */
export class Redaction {
  readonly #values = new Map<string, Kind>()
  readonly #scan: Scan
  readonly #found = new Map<string, readonly Finding[]>()
  readonly #unread = new Map<string, number>()
  readonly #texts: string[] = []
  #characters = 0
  /** Set where the operator's detector has failed, and the request goes on without it. */
  hasDetectorFailed = false
  /** Set where the request has more than is searched. */
  isStopped = false
  #places = 0

  constructor(scan: Scan) {
    this.#scan = scan
  }

  /** Scans all texts of the request, and changes none. Throws `TooManyValues`. */
  read(exchange: Exchange): void {
    this.#readUnchangeable(exchange)
    exchange.mapRequestText((text, place) => {
      const unread = unreadAt(text, place)
      if (unread !== undefined) this.#count(unread.kind === 'own' ? 'own' : unread.what)
      else this.#readText(text)
      return text
    })
  }

  /** The texts that were read. */
  get texts(): readonly string[] {
    return this.#texts
  }

  /** Adds values, of at least two characters each, wherever they are in the texts. Throws `TooManyValues`. */
  add(values: readonly string[]): void {
    if (values.length === 0) return
    const finder = new LiteralFinder(values.map((text) => ({ text, kind: 'custom' })))
    for (const text of new Set(this.#texts)) {
      const found = finder.find(text)
      if (found.length > 0) this.#keep(text, withoutOverlaps([...(this.#found.get(text) ?? []), ...found]))
    }
  }

  /** Replaces all values by their placeholders. */
  replace(exchange: Exchange, placeholders: Placeholders): void {
    const finder = new LiteralFinder(this.#literals())
    exchange.mapRequestText((text, place) => {
      if (unreadAt(text, place) !== undefined) return text
      const found = withoutOverlaps([...(this.#found.get(text) ?? []), ...finder.find(text)])
      this.#places += found.length
      return found.length === 0 ? text : replaced(text, found, placeholders)
    })
  }

  get isEmpty(): boolean {
    return this.#values.size === 0
  }

  get figures(): ScanFigures {
    const kinds: Partial<Record<Kind, number>> = {}
    for (const kind of this.#values.values()) kinds[kind] = (kinds[kind] ?? 0) + 1
    const unread = Object.fromEntries(this.#unread)
    const { hasDetectorFailed, isStopped } = this
    const texts = this.#texts.length
    return { texts, characters: this.#characters, kinds, places: this.#places, unread, hasDetectorFailed, isStopped }
  }

  /** Counts query and headers with values as unread parts: providers receive them as they are. */
  #readUnchangeable({ query, headers, callerParts }: Exchange): void {
    if (query !== '' && this.#scan(decoded(query)).length > 0) this.#count('query')
    for (const name in headers)
      if (FORWARDED_HEADER.test(name) && this.#scan(String(headers[name])).length > 0) this.#count('header')
    // Has the headers that the operator forwards in addition.
    if (this.#scan(callerParts).length > 0) this.#count('header')
  }

  #readText(text: string): void {
    this.#texts.push(text)
    this.#characters += text.length
    const found = this.#scan(text)
    if (found.length === 0) return
    this.#keep(text, found)
  }

  #keep(text: string, found: readonly Finding[]): void {
    this.#found.set(text, found)
    for (const { start, end, kind } of found) this.#values.set(text.slice(start, end), kind)
    if (this.#values.size > MOST_VALUES) throw new TooManyValues()
  }

  #count(what: string): void {
    this.#unread.set(what, (this.#unread.get(what) ?? 0) + 1)
  }

  #literals(): Literal[] {
    return [...this.#values].filter(([text]) => text.length >= SHORTEST_LITERAL).map(([text, kind]) => ({ text, kind }))
  }
}

function replaced(text: string, found: readonly Finding[], placeholders: Placeholders): string {
  const parts: string[] = []
  let done = 0
  for (const { start, end, kind } of found) {
    parts.push(text.slice(done, start), placeholders.of(kind, text.slice(start, end)))
    done = end
  }
  parts.push(text.slice(done))
  return parts.join('')
}

/** Decodes a query string as far as it can be. */
function decoded(query: string): string {
  try {
    return decodeURIComponent(query.replaceAll('+', ' '))
  } catch {
    return query
  }
}
