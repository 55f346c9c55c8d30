import { createHash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { JsonObject } from './json.ts'
import { breakConnection, hang } from './provider/deliver.ts'
import { createJournal, type SeenRequest } from './provider/journal.ts'
import { listen, type StandIn } from './provider/listen.ts'
import { open, readBody } from './provider/receive.ts'

/*
 * DESIGN. A stand-in for embeddings endpoints: a real HTTP server on loopback that refuses the requests that OpenAI or
 * Voyage refuse, above all for unknown fields. A text's vector is the sum of its words' vectors, each in a direction of its
 * own, so that texts with common words are near. The same on every run.
 */

/** Reply to an accepted request. */
export type EmbeddingScript =
  | {
      readonly kind: 'answer'
      readonly afterMs?: number
      readonly vector?: readonly unknown[]
      readonly index?: number
    }
  | { readonly kind: 'status'; readonly status: number }
  /** Status 200 with this body. */
  | { readonly kind: 'body'; readonly body: string }
  | { readonly kind: 'hang' }
  | { readonly kind: 'break' }

/** Options of `startEmbeddings`. */
export interface EmbeddingsOptions {
  readonly shape?: 'openai' | 'voyage'
  /** Any other is 401; default: none is required. */
  readonly apiKey?: string
  /** Called for the nth accepted request, from 1. */
  readonly script?: (text: string, nth: number) => EmbeddingScript | undefined
}

/** A running stand-in. */
export interface EmbeddingsServer extends StandIn {
  /** The address of the endpoint. */
  readonly endpoint: string
  /** Returns how often this text was requested. */
  calls(text: string): number
}

const MODEL = 'words-1'
const NATIVE_DIMENSIONS = 1536
const WORD = /\w+/g

/** Starts a stand-in on a free loopback port; it knows the model `words-1`. */
export async function startEmbeddings(options: EmbeddingsOptions = {}): Promise<EmbeddingsServer> {
  const journal = createJournal()
  let taken = 0
  const standIn = await listen(journal, async (request, response) => {
    const { entry, exchange } = open(request, response, journal)
    if (!(await readBody(request, entry))) return
    const fault = faultOf(entry, options)
    if (fault !== undefined)
      entry.refused = { status: fault.status, type: 'invalid_request_error', message: fault.message }
    journal.record(entry)
    if (fault !== undefined) return send(response, fault.status, { error: { message: fault.message } })
    const body = entry.json ?? {}
    const script = options.script?.(textOf(body), ++taken) ?? { kind: 'answer' }
    if (script.kind === 'hang') return hang({ kind: 'hang', at: 'before-headers' }, exchange)
    if (script.kind === 'break') return breakConnection({ kind: 'break', at: 'before-headers' }, exchange)
    if (script.kind === 'status') return send(response, script.status, { error: { message: 'scripted' } })
    if (script.kind === 'body') return void response.end(script.body)
    await sleep(script.afterMs ?? 0, undefined, { signal: exchange.gone }).catch(() => {})
    send(response, 200, answerOf(body, script))
  })
  const calls = (text: string) => journal.seen.filter(({ json }) => textOf(json ?? {}) === text).length
  return { ...standIn, endpoint: `${standIn.url}/v1/embeddings`, calls }
}

function faultOf(request: SeenRequest, options: EmbeddingsOptions): { status: number; message: string } | undefined {
  const { shape = 'openai', apiKey } = options
  if (apiKey !== undefined && request.headers.authorization !== `Bearer ${apiKey}`)
    return { status: 401, message: 'key' }
  if (`${request.method} ${request.url}` !== 'POST /v1/embeddings') return { status: 404, message: request.url }
  const { json } = request
  if (request.headers['content-type'] !== 'application/json' || json === undefined)
    return { status: 400, message: 'JSON' }
  const known: Record<string, (value: unknown) => boolean> = {
    input: (value) => Array.isArray(value) && value.length === 1 && typeof value[0] === 'string' && value[0] !== '',
    model: (value) => value === MODEL,
    ...(shape === 'openai'
      ? { dimensions: isDimensions, encoding_format: (value: unknown) => value === 'float' }
      : {
          output_dimension: isDimensions,
          output_dtype: (value: unknown) => value === 'float',
        }),
  }
  const wrong = Object.entries(json).find(([name, value]) => !known[name]?.(value))
  if (wrong !== undefined) return { status: 400, message: `Unrecognized or invalid: ${wrong[0]}` }
  return 'input' in json && 'model' in json ? undefined : { status: 400, message: 'input and model are required' }
}

function isDimensions(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= NATIVE_DIMENSIONS
}

function textOf({ input }: JsonObject): string {
  return Array.isArray(input) ? String(input[0]) : ''
}

function answerOf(body: JsonObject, script: EmbeddingScript & { kind: 'answer' }): object {
  const dimensions = Number(body.dimensions ?? body.output_dimension ?? NATIVE_DIMENSIONS)
  const vector = script.vector ?? vectorOf(textOf(body), dimensions)
  return {
    object: 'list',
    data: [{ object: 'embedding', index: script.index ?? 0, embedding: vector }],
    model: MODEL,
    usage: { prompt_tokens: 1, total_tokens: 1 },
  }
}

function vectorOf(text: string, dimensions: number): number[] {
  const sums = new Array<number>(dimensions).fill(0)
  for (const [word] of text.toLowerCase().matchAll(WORD)) {
    const digest = createHash('sha256').update(word).digest()
    for (const byte of digest)
      sums[(byte * 7 + word.length) % dimensions] = (sums[(byte * 7 + word.length) % dimensions] ?? 0) + 1
  }
  return sums
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
