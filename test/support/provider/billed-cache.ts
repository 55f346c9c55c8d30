import { hash } from 'node:crypto'
import { type BlockMark, type CacheRules, ProviderCache } from '../../../eval/cache-marks/provider-cache.ts'
import { isJsonObject, type JsonObject } from '../json.ts'
import type { SeenRequest } from './journal.ts'
import type { Script } from './script.ts'

/*
 * DESIGN. A provider's prompt cache behind the stand-in: it reads the marks of each request itself, refuses those that the
 * provider refuses, and bills what its cache has, by its own count of tokens: a quarter of a block's bytes without the mark.
 * Prefixes are separate for each key, model and set of betas; `tool_choice` and `thinking` are part of the messages. Written
 * from the provider's documentation alone, independently of the gateway's own reasoning.
 */

/** Block of a request, as it is rendered. */
interface Block {
  readonly text: string
  readonly mark: JsonObject | undefined
  readonly fault: string | undefined
}

/** A cache with its bills. */
export interface BilledCache {
  /** Answers and bills a request; a script for the stand-in. */
  script(request: SeenRequest): Script
  /** Usages of the requests so far. */
  readonly bills: { input_tokens: number; cache_read_input_tokens: number; cache_creation_input_tokens: number }[]
  /** Most marks of the requests so far, from the oldest. */
  readonly marks: number[]
}

const BYTES_PER_TOKEN = 4
const RULES: CacheRules = { leastTokens: 1024, replyMs: 0 }
const UNMARKABLE = new Set(['thinking', 'redacted_thinking'])

/** Creates an empty cache. `answer` is the script that gets the bill. */
export function createBilledCache(
  answer: Script & { kind: 'answer' } = { kind: 'answer', text: 'Fine.' },
): BilledCache {
  const cache = new ProviderCache(RULES)
  const bills: BilledCache['bills'] = []
  const marked: number[] = []
  return {
    bills,
    marks: marked,
    script({ json = {}, headers }) {
      const blocks = blocksOf(json)
      const fault = blocks.find((block) => block.fault !== undefined)?.fault
      if (fault !== undefined) return { kind: 'error', status: 400, message: fault }
      const marks = blocks.flatMap(({ mark }, block): BlockMark[] =>
        mark === undefined ? [] : [{ block, lifetime: mark.ttl === '1h' ? '1h' : '5m' }],
      )
      let prefix = JSON.stringify([headers['x-api-key'], headers['anthropic-beta'], json.model])
      const cached = blocks.map(({ text }) => {
        prefix = hash('sha1', prefix + text)
        return { prefix, tokens: Math.ceil(text.length / BYTES_PER_TOKEN) }
      })
      const { fresh, read, written5m, written1h } = cache.call(cached, marks, Date.now())
      marked.push(marks.length)
      const usage = {
        input_tokens: fresh,
        cache_read_input_tokens: read,
        cache_creation_input_tokens: written5m + written1h,
      }
      bills.push(usage)
      const lifetimes = { ephemeral_5m_input_tokens: written5m, ephemeral_1h_input_tokens: written1h }
      return { ...answer, usage: { ...usage, cache_creation: lifetimes } }
    },
  }
}

/** Returns the blocks in the order in which they are rendered; a string is a block of text. A mark at the top is the last block's. */
function blocksOf({ tools, system, messages, tool_choice, thinking, cache_control: mark }: JsonObject): Block[] {
  const settings = JSON.stringify([tool_choice, thinking])
  const turns = Array.isArray(messages) ? messages.filter(isJsonObject) : []
  const blocks = [
    ...(Array.isArray(tools) ? tools : []).map((tool) => toBlock('tools', tool)),
    ...listOf(system).map((block) => toBlock('system', block)),
    ...turns.flatMap(({ role, content }) => listOf(content).map((block) => toBlock(`${settings} ${role}`, block))),
  ]
  const last = blocks.at(-1)
  return last !== undefined && isJsonObject(mark) ? blocks.with(-1, { ...last, mark }) : blocks
}

function listOf(content: unknown): unknown[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return Array.isArray(content) ? content : []
}

function toBlock(place: string, block: unknown): Block {
  const { cache_control: mark, ...rest } = isJsonObject(block) ? block : {}
  const text = `${place} ${JSON.stringify(rest)}`
  if (!isJsonObject(mark)) return { text, mark: undefined, fault: undefined }
  return { text, mark, fault: faultOf(rest) }
}

function faultOf({ type, text, defer_loading: isDeferred }: JsonObject): string | undefined {
  if (isDeferred === true) return 'cache_control cannot be set for a tool with defer_loading'
  if (UNMARKABLE.has(String(type))) return `cache_control cannot be set for ${String(type)} blocks`
  return type === 'text' && String(text).trim() === '' ? 'cache_control cannot be set for empty text blocks' : undefined
}
