/**
 * DESIGN: a provider's prompt cache, to the token.
 *
 * An entry is a prefix that a mark has written. A request reads the longest entry that ends at one of its marks or at one of
 * the 19 blocks before a mark; a read begins the entry's lifetime again, and so does a mark at which an entry ends. What lies
 * between the read prefix and the last mark is written, at the price of its lifetime; the rest is plain input.
 *
 *     read A          up to the longest entry that is found
 *     written, 1 h    from A to the last mark of an hour
 *     written, 5 min  from there to the last mark
 *
 * With `isChained`, an entry lives no longer than the entry that was read when it was written: a stricter reading of the same
 * documentation, for which a policy should still pay.
 *
 * An entry can be read once the reply to the request that wrote it has begun. Source: Claude API, "Prompt caching".
 */

const LOOK_BACK_BLOCKS = 20
const LIFETIME_MS = { '5m': 5 * 60_000, '1h': 60 * 60_000 } as const

/** Block of a prompt. */
export interface CachedBlock {
  /** Equal for equal prompts up to the end of this block. */
  readonly prefix: string | number
  readonly tokens: number
}

/** A mark on a block, by its index. */
export interface BlockMark {
  readonly block: number
  readonly lifetime: '5m' | '1h'
}

/** Input tokens of a call, by price. */
export interface InputBill {
  readonly fresh: number
  readonly read: number
  readonly written5m: number
  readonly written1h: number
}

interface CacheEntry {
  readonly lifetime: '5m' | '1h'
  readonly readableAtMs: number
  expiresAtMs: number
  readonly base: CacheEntry | undefined
}

/** Rules of a model's cache. */
export interface CacheRules {
  readonly leastTokens: number
  /** From a request to the beginning of its reply. */
  readonly replyMs: number
  /** Default: false. */
  readonly isChained?: boolean
}

/** The cache of one account and model. */
export class ProviderCache {
  readonly #entries = new Map<string | number, CacheEntry>()
  readonly #rules: CacheRules

  constructor(rules: CacheRules) {
    this.#rules = rules
  }

  /** Bills a call. Throws an `Error` for marks that the provider refuses. */
  call(blocks: readonly CachedBlock[], marks: readonly BlockMark[], atMs: number): InputBill {
    assertValid(marks)
    const ends = endsOf(blocks)
    const total = ends.at(-1) ?? 0
    const found = this.#read(blocks, marks, atMs)
    const read = ends[found] ?? 0
    let base = found < 0 ? undefined : this.#entries.get(prefixAt(blocks, found))
    let [written1h, written5m, upTo] = [0, 0, read]
    for (const { block, lifetime } of marks) {
      const end = ends[block] ?? 0
      if (end < this.#rules.leastTokens || end <= upTo) continue
      if (lifetime === '1h') written1h += end - upTo
      else written5m += end - upTo
      upTo = end
      const entry = {
        lifetime,
        readableAtMs: atMs + this.#rules.replyMs,
        expiresAtMs: atMs + LIFETIME_MS[lifetime],
        base: this.#rules.isChained ? base : undefined,
      }
      this.#entries.set(prefixAt(blocks, block), entry)
      base = entry
    }
    return { read, written1h, written5m, fresh: total - upTo }
  }

  /** Returns the block where the longest entry ends that these marks find, and begins lifetimes again; -1 for none. */
  #read(blocks: readonly CachedBlock[], marks: readonly BlockMark[], atMs: number): number {
    let longest = -1
    for (const { block } of marks) {
      for (let at = block; at >= 0 && at > block - LOOK_BACK_BLOCKS; at--) {
        const entry = this.#liveAt(blocks, at, atMs)
        if (entry === undefined) continue
        if (at === block) renew(entry, atMs)
        longest = Math.max(longest, at)
        break
      }
    }
    const entry = longest < 0 ? undefined : this.#liveAt(blocks, longest, atMs)
    if (entry !== undefined) renew(entry, atMs)
    return longest
  }

  #liveAt(blocks: readonly CachedBlock[], block: number, atMs: number): CacheEntry | undefined {
    const entry = this.#entries.get(prefixAt(blocks, block))
    return entry !== undefined && entry.readableAtMs <= atMs && isLive(entry, atMs) ? entry : undefined
  }
}

function isLive(entry: CacheEntry, atMs: number): boolean {
  for (let one: CacheEntry | undefined = entry; one !== undefined; one = one.base)
    if (atMs > one.expiresAtMs) return false
  return true
}

function renew(entry: CacheEntry, atMs: number): void {
  for (let one: CacheEntry | undefined = entry; one !== undefined; one = one.base)
    one.expiresAtMs = atMs + LIFETIME_MS[one.lifetime]
}

const MOST_MARKS = 4

function assertValid(marks: readonly BlockMark[]): void {
  if (marks.length > MOST_MARKS) throw new Error(`Expected at most ${MOST_MARKS} marks, got ${marks.length}`)
  for (const [index, { block, lifetime }] of marks.entries()) {
    const next = marks[index + 1]
    if (next === undefined) continue
    if (next.block <= block) throw new Error('Expected marks in the order of their blocks, one a block')
    if (lifetime === '5m' && next.lifetime === '1h') throw new Error('Expected marks of an hour before the others')
  }
}

/** Returns the tokens up to the end of each block. */
function endsOf(blocks: readonly CachedBlock[]): number[] {
  let end = 0
  return blocks.map(({ tokens }) => {
    end += tokens
    return end
  })
}

function prefixAt(blocks: readonly CachedBlock[], block: number): string | number {
  const found = blocks[block]
  if (found === undefined) throw new Error(`Expected a mark on one of ${blocks.length} blocks, got ${block}`)
  return found.prefix
}
