import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { isJsonObject, type JsonObject, parseJson } from './json.ts'
import type { ReplyScript, SseScript } from './provider/script.ts'

/** A recorded reply, ready to be served byte for byte. */
export interface RecordedResponse {
  status: number
  /** As recorded, without those that belong to one connection or to one coding of the body. */
  headers: Readonly<Record<string, string>>
  bytes: Buffer
  isStream: boolean
}

/** A recorded exchange with the provider. */
export interface Recording {
  /** The file's name without `.json`; `#2` and so on for its further exchanges. */
  name: string
  /** For `v*` files, whose requests are not stored, a minimal request that asks for such a reply. */
  request: { path: string; headers: Readonly<Record<string, string>>; body: Buffer }
  response: RecordedResponse
}

/** A recorded error reply whose request is not known. */
export type RecordedError = Pick<Recording, 'name' | 'response'>

/** Result of a search: without the data `items` is empty and `absent` explains it in one line, for `t.log`. */
export interface Found<Item> {
  items: readonly Item[]
  absent?: string
}

const PROJECT_ROOT = path.resolve(import.meta.dirname, '../..')
const CONNECTION_HEADERS = new Set(['connection', 'content-encoding', 'content-length', 'transfer-encoding'])

/** Returns the data folder: `TURNPIKE_DATA`, else `../shared/data` beside the project. It may not exist. */
export function dataFolder(): string {
  return path.resolve(PROJECT_ROOT, process.env.TURNPIKE_DATA ?? '../shared/data')
}

/** Loads every recorded Anthropic exchange, in the order of file names: JSON and SSE, successes and refusals. */
export function loadRecordings(): Found<Recording> {
  return load(/^[av]\d/, (name, content) =>
    Array.isArray(content.events) ? [toEventRecording(name, content.events)] : toExchanges(name, content),
  )
}

/** Loads every recorded Anthropic error reply that has no request: 429, 500 and 529, and an error within a stream. */
export function loadErrors(): Found<RecordedError> {
  return load(/^e\d/, (name, content) =>
    interactionsOf(content).map(({ response }, index) => ({
      name: nameOf(name, index),
      response: toResponse(response),
    })),
  )
}

/** Returns the script that makes the stand-in serve a recorded reply. */
export function toScript({ status, headers, bytes, isStream }: RecordedResponse): ReplyScript | SseScript {
  return isStream ? { kind: 'sse', status, headers, bytes } : { kind: 'reply', status, headers, body: bytes }
}

function load<Item>(files: RegExp, read: (name: string, content: JsonObject) => Item[]): Found<Item> {
  const folder = path.join(dataFolder(), 'recordings')
  if (!existsSync(folder))
    return { items: [], absent: `no recordings in ${folder}: set TURNPIKE_DATA to the data folder` }
  const names = readdirSync(folder).filter((name) => files.test(name) && name.endsWith('.json'))
  const items = names.sort().flatMap((name) => {
    const content = parseJson(readFileSync(path.join(folder, name), 'utf8'))
    if (!isJsonObject(content)) throw new Error(`Expected a JSON object in ${path.join(folder, name)}`)
    return read(path.basename(name, '.json'), content)
  })
  return { items }
}

function toExchanges(name: string, content: JsonObject): Recording[] {
  return interactionsOf(content).map(({ request, response }, index) => {
    const { pathname, search } = new URL(String(request.url))
    const body = Buffer.from(JSON.stringify(request.body))
    const headers = toHeaders(request.headers)
    return {
      name: nameOf(name, index),
      request: { path: pathname + search, headers, body },
      response: toResponse(response),
    }
  })
}

function toEventRecording(name: string, events: readonly JsonObject[]): Recording {
  const body = {
    model: 'claude-sonnet-4-5',
    max_tokens: 4096,
    stream: true,
    messages: [{ role: 'user', content: name }],
  }
  return {
    name,
    request: {
      path: '/v1/messages',
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify(body)),
    },
    response: {
      status: 200,
      headers: { 'content-type': 'text/event-stream; charset=utf-8' },
      bytes: Buffer.from(events.map((event) => frame(event.type, JSON.stringify(event))).join('')),
      isStream: true,
    },
  }
}

function toResponse(response: JsonObject): RecordedResponse {
  const text = streamOf(response)
  const json = response.body === null ? '' : JSON.stringify(response.body)
  const headers = toHeaders(response.headers)
  return { status: Number(response.status), headers, bytes: Buffer.from(text ?? json), isStream: text !== undefined }
}

function streamOf({ sse, sse_error_data: error }: JsonObject): string | undefined {
  if (typeof sse === 'string') return sse
  return typeof error === 'string' ? frame('error', error) : undefined
}

function frame(event: unknown, data: string): string {
  return `event: ${event}\ndata: ${data}\n\n`
}

function interactionsOf({ interactions }: JsonObject): { request: JsonObject; response: JsonObject }[] {
  return Array.isArray(interactions) ? interactions : [] // the shape is that of the data's README
}

function nameOf(file: string, index: number): string {
  return index === 0 ? file : `${file}#${index + 1}`
}

function toHeaders(recorded: unknown): Record<string, string> {
  const entries = isJsonObject(recorded) ? Object.entries(recorded) : []
  return Object.fromEntries(
    entries.flatMap(([name, value]) => (CONNECTION_HEADERS.has(name) ? [] : [[name, String(value)]])),
  )
}
