import { EventEmitter, once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type IncomingHttpHeaders, type IncomingMessage, request as startRequest } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Environment, type Gateway, type Start, startGateway } from './gateway.ts'
import { ask, type Reply, type SendOptions, send } from './http-client.ts'
import { isJsonObject, type JsonObject, valueAt } from './json.ts'
import { PATIENCE_MS } from './patience.ts'
import type { Script } from './provider/script.ts'
import { isMarked } from './second-caller.ts'
import { type Provider, startProvider } from './stand-in-provider.ts'

/** Caller, pipeline and body of a request; further `SendOptions` may be given. */
export interface AskOptions extends Omit<SendOptions, 'headers' | 'body' | 'method' | 'path'> {
  stream?: boolean
  /** The caller's key; default `caller-1`. */
  as?: string
  /** The pipeline; default `exact-cache`. */
  pipe?: string
  headers?: Readonly<Record<string, string>>
  /** Further members of the body. */
  extra?: JsonObject
}

/** A reply that is not read until `rest` is called. */
export interface UnreadReply {
  headers: IncomingHttpHeaders
  /** Reads it to its end. */
  rest(): Promise<Buffer>
  leave(): void
}

/**
 * A gateway with the exact cache in front of a stand-in provider. Scripts go by the prompt, so that tests which run at
 * the same time share one fixture, each with prompts of its own.
 */
export interface Fixture<Started extends Gateway = Gateway> extends AsyncDisposable {
  gateway: Started
  provider: Provider
  /** Sets the provider's reply to the nth request (from 1) of this prompt; otherwise the default reply. */
  script(prompt: string, script: Script | ((nth: number) => Script | undefined)): void
  /** Returns how many requests with this prompt have reached the provider. */
  calls(prompt: string): number
  /** Resolves when the nth request of this prompt has reached the provider. */
  called(prompt: string, nth?: number): Promise<void>
  ask(prompt: string, options?: AskOptions): Promise<Reply>
  /** Requests a stream, reads the headers and no more. */
  askUnread(prompt: string, options?: Pick<AskOptions, 'as' | 'pipe'>): Promise<UnreadReply>
  close(): Promise<void>
}

/** Additions to the gateway's configuration file, and to its environment. */
export interface FixtureOptions {
  readonly config?: JsonObject
  readonly env?: Environment
}

/** Starts a fixture. */
export function startFixture(options: FixtureOptions = {}): Promise<Fixture> {
  return startFixtureWith(startGateway, options)
}

/** Starts a fixture whose gateway `start` starts. */
export async function startFixtureWith<Started extends Gateway>(
  start: Start<Started>,
  { config = {}, env = {} }: FixtureOptions = {},
): Promise<Fixture<Started>> {
  const scripts = new Map<string, (nth: number) => Script | undefined>()
  const counts = new Map<string, number>()
  const counted = new EventEmitter().setMaxListeners(0)
  const provider = await startProvider({
    script: ({ json }) => {
      if (isMarked(json)) return undefined
      const prompt = promptOf(json)
      const nth = (counts.get(prompt) ?? 0) + 1
      counts.set(prompt, nth)
      counted.emit('call')
      return scripts.get(prompt)?.(nth)
    },
  })
  const folder = await mkdtemp(path.join(tmpdir(), 'turnpike-fixture-'))
  const file = path.join(folder, 'turnpike.yaml')
  // Not watching: an edit of the plugin during a run of its tests must not replace it. JSON is YAML.
  const plugins = isJsonObject(config.plugins) ? config.plugins : {}
  await writeFile(file, JSON.stringify({ ...config, plugins: { watch: false, ...plugins } }))
  const defaults = { ANTHROPIC_BASE_URL: provider.url, ANTHROPIC_API_KEY: 'sk-operator', SVC_CONFIG: file }
  const gateway = await start({ ...defaults, ...env })
  const calls = (prompt: string) => counts.get(prompt) ?? 0
  const close = async () => {
    await gateway.stop()
    await provider.close()
    await rm(folder, { recursive: true, force: true })
  }
  return {
    gateway,
    provider,
    script: (prompt, script) => void scripts.set(prompt, typeof script === 'function' ? script : () => script),
    calls,
    async called(prompt, nth = 1) {
      const signal = AbortSignal.timeout(PATIENCE_MS)
      while (calls(prompt) < nth) await once(counted, 'call', { signal })
    },
    ask: (prompt, options = {}) => {
      const { stream = false, extra, headers } = options
      const body = ask(prompt, { ...(stream && { stream }), ...extra })
      return send(gateway.url, { ...options, headers: { ...headersOf(options), ...headers }, body })
    },
    askUnread: (prompt, options = {}) => openUnread(gateway.url, headersOf(options), ask(prompt, { stream: true })),
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Resolves when `semantic-cache` has opened its store of entries, and this caller's scope there. */
export async function untilCacheOpen(
  ask: (prompt: string, options: { pipe: string }) => Promise<Reply>,
): Promise<void> {
  await eventually(
    // Code is found by itself only: no embedder is called.
    () => ask('```\nspoon\n```', { pipe: 'semantic-cache' }),
    (reply) => stateOf(reply) === 'hit',
  )
}

/** Returns the cache's result from its header: `hit`, `miss`, `attached`, or `undefined` for none. */
export function stateOf({ headers }: Pick<Reply, 'headers'>): unknown {
  return headers['x-svc-cache']
}

/**
 * Resolves when the gateway has handled everything that reached its machine before: requests, and closed connections.
 * A probe sent later is accepted later; when the second probe is answered, the turn of the event loop that accepted the
 * first one has ended.
 */
export async function untilHandled({ url }: Gateway): Promise<void> {
  for (let i = 0; i < 3; i++) await send(url, { method: 'GET', path: '/health' })
}

/** Repeats `attempt` until `isContent` holds, for at most `waitMs` (default `PATIENCE_MS`); returns its result. */
export async function eventually<T>(
  attempt: () => Promise<T>,
  isContent: (value: T) => boolean,
  waitMs = PATIENCE_MS,
): Promise<T> {
  const deadline = AbortSignal.timeout(waitMs)
  for (;;) {
    const value = await attempt()
    if (isContent(value)) return value
    if (deadline.aborted) throw new Error(`Expected ${isContent} within ${waitMs} ms, got ${JSON.stringify(value)}`)
    await sleep(25)
  }
}

function promptOf(json: JsonObject | undefined): string {
  const messages = Array.isArray(json?.messages) ? json.messages.filter(isJsonObject) : []
  return String(valueAt(messages.at(-1), 'content'))
}

function headersOf({ as = 'caller-1', pipe = 'exact-cache' }: Pick<AskOptions, 'as' | 'pipe'>): Record<string, string> {
  return { authorization: `Bearer ${as}`, 'x-svc-pipe': pipe }
}

function openUnread(url: string, headers: Record<string, string>, body: JsonObject): Promise<UnreadReply> {
  const { promise, resolve, reject } = Promise.withResolvers<UnreadReply>()
  const request = startRequest(new URL('/v1/messages', url), {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    agent: false,
  })
  request.on('error', reject)
  request.on('response', (response) => {
    response.pause()
    resolve({ headers: response.headers, rest: () => readAll(response), leave: () => request.destroy() })
  })
  request.end(JSON.stringify(body))
  return promise
}

async function readAll(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  return Buffer.concat(chunks)
}
