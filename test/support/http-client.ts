import { type Agent, type IncomingHttpHeaders, type OutgoingHttpHeaders, request as startRequest } from 'node:http'
import { type JsonObject, parseJson } from './json.ts'
import { PATIENCE_MS } from './patience.ts'

/** Options of a request. */
export interface SendOptions {
  /** Default `POST`. */
  method?: string
  /** Path and query. Default `/v1/messages`. */
  path?: string
  /** Undefined values are left out. Without `authorization` and `x-api-key` a default Bearer key is sent. */
  headers?: Readonly<Record<string, string | readonly string[] | undefined>>
  /** Text and bytes are sent unchanged, an object is serialised once. */
  body?: string | Buffer | JsonObject
  /**
   * Disconnects; the bytes received so far are the reply. A request that is with the kernel is half-closed first, so that
   * the promise resolves when the server has noticed.
   */
  signal?: AbortSignal
  /** Called when the whole request is with the kernel. */
  onSent?: () => void
  /** Called when status and headers have arrived. */
  onHeaders?: (status: number, headers: IncomingHttpHeaders) => void
  /** Called with every chunk as it arrives. */
  onChunk?: (chunk: Buffer) => void
  /** Default: a connection of its own, closed after the reply. */
  agent?: Agent
  /** Longest wait for the end of the reply in milliseconds; then the promise rejects. Default `PATIENCE_MS`. */
  timeoutMs?: number
}

/** Received reply, byte for byte; a content coding is not undone. */
export interface Reply {
  /** 0 when the connection broke before a status line. */
  status: number
  headers: IncomingHttpHeaders
  /** Names and values in turn, as received. */
  rawHeaders: readonly string[]
  body: Buffer
  text: string
  /** The parsed body; `undefined` when it is not JSON. Read it with `t.like` or `valueAt`. */
  json: unknown
  /** True when the reply ended as HTTP defines it, false when it was cut or aborted. */
  endedCleanly: boolean
  /** Error of the connection, if any; see its `code`. */
  error: NodeJS.ErrnoException | undefined
  /** Bytes received, with their times in milliseconds since sending. */
  chunks: readonly { atMs: number; bytes: number }[]
}

/** Sends one request and resolves with the reply, cut or not. Rejects only when it does not end within `timeoutMs`. */
export function send(url: string, options: SendOptions = {}): Promise<Reply> {
  const { method = 'POST', path = '/v1/messages', agent = false, signal, timeoutMs = PATIENCE_MS } = options
  const payload = toPayload(options.body)
  const headers = toHeaders(options.headers ?? {}, payload)
  const { promise, resolve, reject } = Promise.withResolvers<Reply>()
  const sentAtMs = performance.now()
  const pieces: Buffer[] = []
  const reply: Omit<Reply, 'body' | 'text' | 'json'> & { chunks: { atMs: number; bytes: number }[] } = {
    status: 0,
    headers: {},
    rawHeaders: [],
    endedCleanly: false,
    error: undefined,
    chunks: [],
  }
  const request = startRequest(new URL(path, url), { method, headers, agent })
  const disconnect = () => (request.writableFinished && request.socket ? request.socket.end() : request.destroy())
  signal?.addEventListener('abort', disconnect)
  const timer = setTimeout(() => {
    reject(new Error(`Expected a complete answer to ${method} ${path} within ${timeoutMs} ms`))
    request.destroy()
  }, timeoutMs)
  const noteError = (error: Error) => {
    reply.error ??= error
  }
  request.on('error', noteError)
  request.on('finish', () => options.onSent?.())
  request.on('response', (response) => {
    const { statusCode = 0, headers, rawHeaders } = response
    Object.assign(reply, { status: statusCode, headers, rawHeaders })
    options.onHeaders?.(statusCode, headers)
    response.on('error', noteError)
    response.on('end', () => {
      reply.endedCleanly = response.complete
    })
    response.on('data', (chunk: Buffer) => {
      if (signal?.aborted) return
      pieces.push(chunk)
      reply.chunks.push({ atMs: performance.now() - sentAtMs, bytes: chunk.length })
      options.onChunk?.(chunk)
    })
  })
  request.on('close', () => {
    clearTimeout(timer)
    signal?.removeEventListener('abort', disconnect)
    const body = Buffer.concat(pieces)
    const text = body.toString()
    resolve({ ...reply, body, text, json: parseJson(text) })
  })
  request.end(payload)
  if (signal?.aborted) disconnect()
  return promise
}

/** Builds a minimal request body with one user message; `extra` adds or replaces members. */
export function ask(text: string, extra: JsonObject = {}): JsonObject {
  return { model: 'claude-sonnet-4-5', max_tokens: 100, messages: [{ role: 'user', content: text }], ...extra }
}

function toPayload(body: SendOptions['body']): Buffer | undefined {
  if (body === undefined || Buffer.isBuffer(body)) return body
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
}

function toHeaders(given: NonNullable<SendOptions['headers']>, payload: Buffer | undefined): OutgoingHttpHeaders {
  const names = new Set(Object.keys(given).map((name) => name.toLowerCase()))
  const headers: OutgoingHttpHeaders = {}
  if (!names.has('authorization') && !names.has('x-api-key')) headers.authorization = 'Bearer test-key'
  if (payload && !names.has('content-type')) headers['content-type'] = 'application/json'
  if (payload && !names.has('content-length') && !names.has('transfer-encoding')) {
    headers['content-length'] = payload.length
  }
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined) headers[name] = typeof value === 'string' ? value : [...value]
  }
  return headers
}
