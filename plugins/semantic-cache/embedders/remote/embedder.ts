import { hash } from 'node:crypto'
import type { ByteStore, Clock, Log } from 'turnpike/plugin'
import { type Embedder, EmbedderFault, faultReasonOf } from '../../embedder.ts'
import type { RemoteOptions } from '../options.ts'
import { paddedDimensions } from '../unit-bytes.ts'
import { within } from '../within.ts'
import { Breaker } from './breaker.ts'
import { type AskEndpoint, createEndpoint } from './endpoint.ts'

/** What the embedder of an endpoint is made from. */
export interface RemoteSettings {
  readonly options: RemoteOptions & { readonly url: string; readonly model: string }
  readonly budgetMs: number
  /** Keeps vectors by the hash of their text. */
  readonly store: ByteStore
  readonly clock: Clock
  readonly log: Log
}

/** Texts on their way at most. */
const MOST_RUNNING = 128
/** A call goes on when nobody waits for it any more: breaking it off would cost the connection, and the next call be late too. */
const CALL_TIMEOUT_MS = 5000
/** A store that is not quick is passed over. */
const STORE_BUDGET_MS = 20
const NEVER = new AbortController().signal

/**
 * DESIGN — vectors from an endpoint
 *
 *   embed ──► on its way already? ──yes──► wait with the others ─────────────┐
 *               │no                                                          ▼
 *               ▼                                              within the budget, or embedder-late
 *             stored by hash? ──yes──────────────────────────────────────────▲
 *               │no                                                          │
 *               ▼                                                            │
 *             breaker open? ──yes──► embedder-gone          call ──► store ──┘
 *
 * A call that ends after the budget counts as a failure, and its vector is stored all the same. Only the text is sent.
 */
export function createRemoteEmbedder({ options, budgetMs, store, clock, log }: RemoteSettings): Embedder {
  const { url, shape, model, dimensions, ask_dimensions, failures, pause, vectors_ttl } = options
  const endpoint = createEndpoint({
    url,
    shape,
    model,
    dimensions,
    apiKey: options.api_key,
    asksDimensions: ask_dimensions,
    encoding: options.encoding,
    timeoutMs: Math.max(CALL_TIMEOUT_MS, budgetMs),
  })
  const id = `remote-1-${hash('sha256', JSON.stringify([url, shape, model, dimensions, ask_dimensions]), 'base64url').slice(0, 16)}`
  let lastFault = ''
  const onChange = (state: 'opened' | 'closed') =>
    log.warn({ fault: lastFault }, state === 'opened' ? 'embedder.paused' : 'embedder.resumed')
  const breaker = new Breaker({ failures, pauseMs: pause, clock, onChange })
  const running = new Map<string, Promise<Int8Array>>()

  async function vectorOf(text: string, key: string): Promise<Int8Array> {
    const stored = await within(store.get(key), { budgetMs: STORE_BUDGET_MS, signal: NEVER }).catch(() => undefined)
    if (stored?.length === paddedDimensions(dimensions)) return Int8Array.from(stored, (byte) => (byte << 24) >> 24)
    const vector = await guarded(endpoint.ask, text)
    await store.set(key, Buffer.from(vector.buffer), vectors_ttl).catch(() => {})
    return vector
  }

  async function guarded(ask: AskEndpoint, text: string): Promise<Int8Array> {
    if (!breaker.tryEnter()) throw new EmbedderFault('embedder-gone', 'The endpoint is left alone for a while.')
    const startedMs = performance.now()
    try {
      const vector = await ask(text)
      lastFault = 'late'
      if (performance.now() - startedMs > budgetMs) breaker.fail()
      else breaker.succeed()
      return vector
    } catch (error) {
      lastFault = error instanceof Error ? error.message : String(error)
      if (faultReasonOf(error) === 'embedder-refused') breaker.succeed()
      else breaker.fail()
      throw error
    }
  }

  function start(text: string, key: string): Promise<Int8Array> {
    if (running.size >= MOST_RUNNING)
      throw new EmbedderFault('embedder-busy', `${running.size} texts are on their way.`)
    const work = vectorOf(text, key).finally(() => running.delete(key))
    running.set(key, work)
    return work
  }

  return {
    id,
    dimensions: paddedDimensions(dimensions),
    embed(text, signal) {
      const key = hash('sha256', `${id} ${text}`, 'base64url')
      return within(running.get(key) ?? start(text, key), { budgetMs, signal })
    },
    close: async () => endpoint.close(),
  }
}
