import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { parseJson } from '../../src/core/json/parse-json.ts'
import type { HostileDialect } from './hostile-requests.ts'
import { isJsonObject, type JsonObject } from './json.ts'

/*
 * DESIGN. A provider's own reading of a request, without the gateway's estimator: the value of JSON.parse (without V8's
 * mistake with escaped names), where the last of several members wins; names matched without case; every string is text,
 * including thinking and members of unknown names.
 *
 * It leaves out parts that no provider counts as text: media, encrypted text, ids and other short marks, settings.
 */

/** A provider's counts of a request. */
export interface OwnReading {
  /** Tokens of its text, by o200k. */
  readonly tokens: number
  /** The largest of its limits; 0 without one. */
  readonly maxTokens: number
  readonly answers: number
}

/** Longest setting and longest mark that are no text, in characters of JSON. */
const SETTING = 512
const MARK = 128
const SLICE = 200
const LONG_NAME = 40

const FREE = new Set(['metadata', 'stop', 'stop_sequences', 'logit_bias'])
const PROMPT = new Set(['messages', 'system', 'tools', 'functions', 'prediction'])
const MARKS = new Set([
  ...['type', 'id', 'role', 'tool_use_id', 'tool_call_id', 'cache_control', 'is_error', 'caller', 'index'],
  ...['detail', 'format', 'media_type', 'effort', 'task_budget', 'name', 'defer_loading', 'max_uses', 'citations'],
  ...['max_content_tokens', 'max_characters', 'use_cache', 'mcp_server_name', 'url', 'file_id'],
])
const SOUND = new Set(['input_audio'])
const CITED = new Set(['text', 'document', 'search_result'])
const ENCRYPTED: Readonly<Record<string, string>> = {
  redacted_thinking: 'data',
  web_search_result: 'encrypted_content',
  encrypted_code_execution_result: 'encrypted_stdout',
  thinking: 'signature',
}

/** Reads a request. Throws when it is not a JSON object. */
export function readOwn(body: string, dialect: HostileDialect): OwnReading {
  const read = withoutCase(parseJson(body))
  if (!isJsonObject(read)) throw new Error('expected an object')
  let tokens = 0
  for (const [name, value] of Object.entries(read)) {
    const isSetting = FREE.has(name) || (!PROMPT.has(name) && JSON.stringify(value).length <= SETTING)
    if (!isSetting && name !== 'mcp_servers') tokens += tokensOf(name) + textIn(value)
  }
  const limits = dialect === 'chat' ? [read.max_tokens, read.max_completion_tokens] : [read.max_tokens]
  return { tokens, maxTokens: Math.max(0, ...limits.map((limit) => Number(limit ?? 0) || 0)), answers: answersIn(read) }
}

function answersIn({ n }: JsonObject): number {
  return Math.max(1, Math.floor(Number(n ?? 1)) || 1)
}

/** Converts names to lower case, the last of several winning. */
function withoutCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutCase)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name.toLowerCase(), withoutCase(member)]))
}

function textIn(value: unknown): number {
  if (typeof value === 'string') return countSlices(value)
  if (Array.isArray(value)) return value.reduce((sum: number, element) => sum + textIn(element), 0)
  if (!isJsonObject(value)) return 0
  let tokens = 0
  for (const [name, member] of Object.entries(value)) {
    if (isNoText(value, name, member)) continue
    tokens += tokensOf(name) + (name === 'source' ? textOfSource(value, member) : textIn(member))
  }
  return tokens
}

function isNoText(object: JsonObject, name: string, member: unknown): boolean {
  const type = String(object.type)
  if (MARKS.has(name) && JSON.stringify(member).length <= MARK) return true
  return ENCRYPTED[type] === name || (name === 'citations' && CITED.has(type)) || isMedium(name, member)
}

/** Returns whether a member is media in base64, or a file that is only named. */
function isMedium(name: string, member: unknown): boolean {
  if (SOUND.has(name) && isJsonObject(member))
    return Object.keys(member).every((key) => ['data', 'format'].includes(key))
  if (typeof member !== 'string') return false
  return /^url$|^image_url$|^file_data$/.test(name) && /^(?:data:(?:image|application|text)\/|https?:)/i.test(member)
}

/** Counts the source of an image or a document: base64 of an image or a PDF is no text. */
function textOfSource({ type }: JsonObject, source: unknown): number {
  if (!isJsonObject(source) || source.type !== 'base64' || typeof source.data !== 'string') return textIn(source)
  const isFile = type === 'image' || Buffer.from(source.data.slice(0, 1400), 'base64').includes('%PDF')
  return isFile ? textIn({ ...source, data: undefined }) : textIn(source)
}

function tokensOf(name: string): number {
  return name.length > LONG_NAME ? countSlices(name) : 0
}

/** Counts in slices: the time to count a word grows with the square of its length. */
function countSlices(text: string): number {
  let tokens = 0
  for (let at = 0; at < text.length; at += SLICE)
    tokens += countTokens(text.slice(at, at + SLICE), { disallowedSpecial: new Set() })
  return tokens
}
