import type { Clock, Log } from 'turnpike/plugin'
import { abortable } from 'turnpike/plugin/thread'
import { type Embedder, EmbedderFault, faultReasonOf } from '../../embedder.ts'
import type { RemoteOptions } from '../options.ts'
import { Breaker } from './breaker.ts'
import { type AskEndpoint, createEndpoint } from './endpoint.ts'
import { paddedDimensions } from './unit-bytes.ts'

/** Dependencies of a remote embedder. */
export interface RemoteSettings {
  readonly options: RemoteOptions & { readonly url: string; readonly model: string }
  readonly budgetMs: number
  readonly clock: Clock
  readonly log: Log
}

/** Most in-flight texts. */
const MOST_RUNNING = 128
/**
 * Time-out of a call. It continues after its waiters: aborting it would cost the connection and delay the next call
 * too.
 */
const CALL_TIMEOUT_MS = 5000
/** Consecutive failures that open the circuit breaker. */
const FAILURES_BEFORE_PAUSE = 3
const PAUSE_MS = 10_000

/**
 * DESIGN — vectors from an endpoint
 *
 *   embed ──► already in flight? ──yes──► join the waiters ──┐
 *               │no                                               ▼
 *               ▼                                   within the budget, or embedder-late
 *             breaker open? ──yes──► embedder-gone                ▲
 *               │no                                               │
 *               └──────────────────► call ────────────────────────┘
 *
 * A call that ends after the budget counts as a failure. Only the text is sent.
 */
export function createRemoteEmbedder({ options, budgetMs, clock, log }: RemoteSettings): Embedder {
  const { url, shape, model, dimensions, ask_dimensions } = options
  const endpoint = createEndpoint({
    url,
    shape,
    model,
    dimensions,
    apiKey: options.api_key,
    asksDimensions: ask_dimensions,
    timeoutMs: Math.max(CALL_TIMEOUT_MS, budgetMs),
  })
  let lastFault = ''
  const onChange = (state: 'opened' | 'closed') =>
    log.warn({ fault: lastFault }, state === 'opened' ? 'embedder.paused' : 'embedder.resumed')
  const breaker = new Breaker({ failures: FAILURES_BEFORE_PAUSE, pauseMs: PAUSE_MS, clock, onChange })
  const running = new Map<string, Promise<Int8Array>>()

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

  function start(text: string): Promise<Int8Array> {
    if (running.size >= MOST_RUNNING)
      throw new EmbedderFault('embedder-busy', `${running.size} texts are on their way.`)
    const work = guarded(endpoint.ask, text).finally(() => running.delete(text))
    running.set(text, work)
    return work
  }

  const onTimeout = () => new EmbedderFault('embedder-late', `No vector within ${budgetMs} ms.`)
  return {
    dimensions: paddedDimensions(dimensions),
    embed: (text, signal) => abortable(running.get(text) ?? start(text), { signal, timeoutMs: budgetMs, onTimeout }),
    close: async () => endpoint.close(),
  }
}
