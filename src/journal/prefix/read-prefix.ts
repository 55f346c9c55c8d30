import { OPEN_BRACKET, type Range, skipSpace, skipValue } from '../../core/json/scan-value.ts'
import type { Fingerprint, Mark, MessagesDigest, PrefixDigest, ToolsDigest } from './digest.ts'
import { endOfSame, fingerprintOf } from './fingerprint.ts'
import { readMark } from './read-block.ts'
import { addMessage, addSame, type MessageParts, messagesOf, noMessageParts } from './read-messages.ts'
import { addSystem, NO_SYSTEM, noParts, type SystemParts } from './read-system.ts'
import { NO_TOOLS, readTools } from './read-tools.ts'
import { type Source, walkArray, walkObject } from './walk.ts'

/** The APIs of providers with a prompt cache. */
export type Api = 'messages' | 'chat' | 'responses' | 'gemini'

/** Fields of a request by their part in the prompt. */
interface Fields {
  readonly tools: ReadonlySet<string>
  readonly system: ReadonlySet<string>
  readonly messages: ReadonlySet<string>
  /** Fields that the provider renders into the prompt, or that choose its cache. */
  readonly settings: ReadonlySet<string>
}

const PROMPT_CACHE = ['prompt_cache_key', 'prompt_cache_retention', 'prompt_cache_options']

/**
 * Source of the settings: "What invalidates the cache" of Anthropic's, "Prompt caching" of OpenAI's documentation (schemas are
 * rendered before the system text).
 */
const FIELDS: Readonly<Record<Api, Fields>> = {
  messages: {
    tools: new Set(['tools']),
    system: new Set(['system']),
    messages: new Set(['messages']),
    settings: new Set([
      ...['tool_choice', 'thinking', 'output_config', 'output_format', 'speed', 'context_management', 'mcp_servers'],
      'container',
    ]),
  },
  chat: {
    tools: new Set(['tools', 'functions']),
    system: new Set(),
    messages: new Set(['messages']),
    settings: new Set(['response_format', ...PROMPT_CACHE]),
  },
  responses: {
    tools: new Set(['tools']),
    system: new Set(['instructions']),
    messages: new Set(['input']),
    settings: new Set(['text', 'prompt', ...PROMPT_CACHE]),
  },
  gemini: {
    tools: new Set(['tools']),
    system: new Set(['systemInstruction', 'system_instruction']),
    messages: new Set(['contents']),
    settings: new Set(['toolConfig', 'cachedContent']),
  },
}
/** Fields by which a provider adds what it has stored: the prefix is not in the body. */
const STORED = new Set(['previous_response_id', 'conversation'])
const SYSTEM_ROLE = /^\{\s*"role"\s*:\s*"(?:system|developer)"/
const LONGEST_ROLE = 40

interface Parts {
  tools: ToolsDigest
  readonly system: SystemParts
  readonly messages: MessageParts
  readonly settings: Map<string, Fingerprint>
  /** Lifetime of the mark that the provider sets on the last block. */
  rootMarkMs: number | undefined
  lifetimeMs: number | undefined
  isStored: boolean
}

/**
 * Reads the prefix of a request body in this API's shape; parts that are equal to those of `known` digests are shared with
 * them. Returns `undefined` for a request that continues a stored response. Throws `ScanError`. Linear in the body.
 */
export function readPrefix(bytes: Buffer, api: Api, known: readonly PrefixDigest[] = []): PrefixDigest | undefined {
  const source: Source = { bytes, text: bytes.toString('latin1') }
  const parts: Parts = {
    tools: NO_TOOLS,
    system: noParts(),
    messages: noMessageParts(),
    settings: new Map(),
    rootMarkMs: undefined,
    lifetimeMs: undefined,
    isStored: false,
  }
  const reading = { source, fields: FIELDS[api], parts, known }
  walkObject(source.text, skipSpace(source.text, 0), (member) => readField(reading, member))
  return parts.isStored ? undefined : digestOf(parts)
}

interface Reading {
  readonly source: Source
  readonly fields: Fields
  readonly parts: Parts
  readonly known: readonly PrefixDigest[]
}

function readField(reading: Reading, { name, keyStart, start }: { name: string; keyStart: number; start: number }) {
  const { source, fields, parts } = reading
  const { text } = source
  if (fields.messages.has(name) && text.charCodeAt(start) === OPEN_BRACKET) return readMessages(reading, start)
  const same = fields.tools.has(name) ? sameTools(reading, start) : undefined
  if (same !== undefined) {
    parts.tools = same.tools
    return same.end
  }
  const end = skipValue(text, start, 1)
  const range = { start, end }
  if (fields.tools.has(name)) parts.tools = readTools(source, range)
  else if (fields.system.has(name)) readSystem(reading, range)
  else if (fields.settings.has(name)) readSetting(reading, { name, ...range })
  else if (fields.messages.has(name)) addMessage(source, start, parts.messages)
  else if (name === 'cache_control') parts.rootMarkMs = readMark(text, { name, keyStart, ...range }).lifetimeMs
  else if (STORED.has(name) && !text.startsWith('null', start)) parts.isStored = true
  return end
}

/** Returns the tools of an earlier request whose bytes are at `start`. */
function sameTools({ source, known }: Reading, start: number): { tools: ToolsDigest; end: number } | undefined {
  for (const tools of new Set(known.map((digest) => digest.tools))) {
    const end = endOfSame(source.bytes, start, tools.whole)
    if (end > 0) return { tools, end }
  }
  return undefined
}

function readSetting({ source: { bytes }, parts }: Reading, { name, start, end }: Range & { name: string }): void {
  parts.settings.set(name, fingerprintOf(bytes.subarray(start, end)))
  if (name === 'prompt_cache_retention' && bytes.toString('latin1', start, end) === DAY) parts.lifetimeMs = DAY_MS
}

const DAY = '"24h"'
const DAY_MS = 24 * 60 * 60_000

function readSystem({ source, parts, known }: Reading, range: Range): void {
  addSystem(source, range, { parts: parts.system, known: known.map(({ system }) => system) })
}

/** Reads the messages; those of the system at their beginning are the system text in APIs that have no field for it. */
function readMessages(reading: Reading, start: number): number {
  const { source, fields, parts } = reading
  const { text } = source
  const isInside = fields.system.size === 0
  const known = new KnownMessages(reading)
  return walkArray(text, start, (at) => {
    const end = known.addSame(at)
    if (end > 0) return end
    const isSystem = isInside && parts.messages.blocks === 0 && SYSTEM_ROLE.test(text.slice(at, at + LONGEST_ROLE))
    return isSystem ? readSystemMessage(reading, at) : addMessage(source, at, parts.messages)
  })
}

/** Reads messages that an earlier request of the conversation has at the same place: they are most of a long history. */
class KnownMessages {
  readonly #reading: Reading
  /** Digests that may begin like this request; one, once a message was equal. */
  #candidates: readonly MessagesDigest[]

  constructor(reading: Reading) {
    this.#reading = reading
    const firsts = new Map(reading.known.map(({ messages }) => [messages.raws[0], messages]))
    this.#candidates = [...firsts.values()]
  }

  /** Returns the offset after the message at byte `at`, or -1 when it must be read. */
  addSame(at: number): number {
    const { source, parts } = this.#reading
    for (const known of this.#candidates) {
      const end = addSame(source, at, { parts: parts.messages, known })
      if (end < 0) continue
      this.#candidates = [known]
      return end
    }
    return -1
  }
}

function readSystemMessage(reading: Reading, at: number): number {
  const { text } = reading.source
  return walkObject(text, at, ({ name, start }) => {
    const end = skipValue(text, start, 2)
    if (name === 'content') readSystem(reading, { start, end })
    return end
  })
}

function digestOf({ tools, system, messages, settings, rootMarkMs, lifetimeMs }: Parts): PrefixDigest {
  const toolBlocks = tools.tools.length
  const before = toolBlocks + system.blocks.length
  const blocks = before + messages.blocks
  const marks = [...tools.marks, ...moved(system.marks, toolBlocks), ...moved(messages.marks, before)]
  if (rootMarkMs !== undefined && blocks > 0) marks.push({ block: blocks - 1, lifetimeMs: rootMarkMs })
  const weight = messages.weights.reduce((sum, one) => sum + one, tools.weight + system.weight)
  return {
    tools,
    system: system.blocks.length === 0 ? NO_SYSTEM : system,
    messages: messagesOf(messages),
    marks,
    settings,
    lifetimeMs,
    blocks,
    weight,
  }
}

function moved(marks: readonly Mark[], by: number): Mark[] {
  return marks.map(({ block, lifetimeMs }) => ({ block: block + by, lifetimeMs }))
}
