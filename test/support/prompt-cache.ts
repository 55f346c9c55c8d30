import { hash } from 'node:crypto'
import { isJsonObject, type JsonObject, valueAt } from './json.ts'
import type { SeenRequest } from './provider/journal.ts'

/*
 * DESIGN. The prompt cache of a stand-in for the Messages API, which bills its own reading: prefixes of whole blocks, found
 * at a mark or up to 20 blocks before it, alive for five minutes or an hour from their last use, and separate for each key,
 * model and set of betas. `tool_choice` and `thinking` are part of the messages. Written from the provider's documentation
 * alone, independently of the gateway's own reasoning.
 *
 *   blocks    t0 t1 | s0 s1* | m0 m1 m2*       * = marked
 *   entries   hash(t0 t1 s0 s1), hash(… m2)    read: the longest one that is alive; written: from there to the last mark
 */
const LOOK_BACK = 20
const MINUTE_MS = 60_000
const LEAST_TOKENS = 1024
const BYTES_PER_TOKEN = 4

interface Block {
  readonly text: string
  readonly lifetimeMs: number | undefined
}

interface Entry {
  readonly lifetimeMs: number
  aliveUntilMs: number
}

/** The prompt cache of one stand-in. */
export class PromptCacheOfStandIn {
  readonly #entries = new Map<string, Entry>()
  /** All tokens that it has billed. */
  readonly billed = { fresh: 0, read: 0, written: 0 }

  /** Returns the usage of a request, and caches what is marked. */
  usageOf({ json, headers }: SeenRequest): JsonObject {
    const body = json ?? {}
    const blocks = blocksOf(body)
    const prefixes = prefixesOf(blocks, [headers['x-api-key'], headers['anthropic-beta'], body.model])
    const marks = blocks.flatMap(({ lifetimeMs }, index) => (lifetimeMs === undefined ? [] : [index]))
    const readTo = this.#find(marks, prefixes)
    const lastMark = marks.findLast((index) => tokensOf(blocks.slice(0, index + 1)) >= LEAST_TOKENS) ?? -1
    for (const index of marks) if (index <= lastMark) this.#write(prefixes[index] ?? '', blocks[index]?.lifetimeMs ?? 0)
    const read = tokensOf(blocks.slice(0, readTo + 1))
    const written = Math.max(0, tokensOf(blocks.slice(0, lastMark + 1)) - read)
    const fresh = Math.max(1, tokensOf(blocks) - read - written)
    this.billed.fresh += fresh
    this.billed.read += read
    this.billed.written += written
    return {
      input_tokens: fresh,
      cache_read_input_tokens: read,
      cache_creation_input_tokens: written,
      cache_creation: null,
    }
  }

  /** Returns the last block of the longest prefix that is cached, and renews it; -1 for none. */
  #find(marks: readonly number[], prefixes: readonly string[]): number {
    for (const mark of marks.toReversed())
      for (let index = mark; index >= 0 && index >= mark - LOOK_BACK; index--) {
        const entry = this.#entries.get(prefixes[index] ?? '')
        if (entry === undefined || entry.aliveUntilMs < Date.now()) continue
        entry.aliveUntilMs = Date.now() + entry.lifetimeMs
        return index
      }
    return -1
  }

  #write(prefix: string, lifetimeMs: number): void {
    this.#entries.set(prefix, { lifetimeMs, aliveUntilMs: Date.now() + lifetimeMs })
  }
}

function blocksOf({ tools, system, messages, tool_choice, thinking, cache_control }: JsonObject): Block[] {
  const settings = JSON.stringify([tool_choice, thinking])
  const turns = listOf(messages).flatMap((message) =>
    contentOf(valueAt(message, 'content')).map((block) => toBlock(block, `${settings} ${valueAt(message, 'role')} `)),
  )
  const blocks = [
    ...listOf(tools).map((tool) => toBlock(tool)),
    ...contentOf(system).map((block) => toBlock(block)),
    ...turns,
  ]
  const last = blocks.at(-1)
  return last === undefined || !isJsonObject(cache_control)
    ? blocks
    : [...blocks.slice(0, -1), toBlock({ cache_control }, last.text)]
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function contentOf(value: unknown): readonly unknown[] {
  return typeof value === 'string' ? [{ type: 'text', text: value }] : listOf(value)
}

function toBlock(value: unknown, before = ''): Block {
  const { cache_control: mark, ...content } = isJsonObject(value) ? value : {}
  const lifetimeMs = isJsonObject(mark) ? (mark.ttl === '1h' ? 60 : 5) * MINUTE_MS : undefined
  return { text: before + JSON.stringify(content), lifetimeMs }
}

function prefixesOf(blocks: readonly Block[], keys: readonly unknown[]): string[] {
  let prefix = JSON.stringify(keys)
  return blocks.map(({ text }) => {
    prefix = hash('sha256', `${prefix} ${text}`)
    return prefix
  })
}

function tokensOf(blocks: readonly Block[]): number {
  return Math.ceil(blocks.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0) / BYTES_PER_TOKEN)
}
