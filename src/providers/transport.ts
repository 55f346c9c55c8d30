import type { IncomingHttpHeaders } from 'node:http'
import { createRequire } from 'node:module'
import type { Dispatcher, Pool } from 'undici'
import { onAbort } from '../core/abortable.ts'
import { GatewayError } from '../core/errors.ts'
import type { ByteSource, ByteSourceSink } from '../core/reply/byte-source.ts'
import { ChunkBuffer } from '../core/reply/chunk-buffer.ts'
import { ConnectionShares } from './connection-shares.ts'

const require = createRequire(import.meta.url)

/** A reply unread for this long gives its connection to a caller that has none. In milliseconds. */
const GIVES_WAY_AFTER_MS = 3000
const LOOKED_FOR_EVERY_MS = 250
/** Informational replies (RFC 9110 §15.2) before the final one: servers send one or two, or a 102 every 20 seconds. */
const MOST_INFORMATIONAL = 100
/** Error code beyond that number. */
export const TOO_MANY_INFORMATIONAL = 'TOO_MANY_INFORMATIONAL'

/** Bytes of one read after which they are passed on at once, so that a slow reader stops the provider in time. */
const MOST_READ_BYTES = 64 * 1024

/** Options of connections to a provider, and the time-out of each phase in milliseconds. */
export interface TransportOptions {
  /** The provider's name, for errors. */
  readonly provider: string
  readonly connections: number
  readonly timeouts: { readonly connect: number; readonly first_byte: number; readonly idle: number }
  readonly proxy: string | undefined
  readonly no_proxy: string | undefined
}

/** One request to a provider. `headers` is flat: name, value, name, value. */
export interface UpstreamRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly headers: readonly string[]
  readonly body: Buffer | undefined
}

/** The request's caller: connections are shared by scope, and a call ends with its signal. */
export interface UpstreamCaller {
  readonly scope: string
  readonly signal: AbortSignal
}

/** The head of a provider's reply; the body waits, paused, in `source`. */
export interface UpstreamResponse {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly source: ByteSource
}

/** Kept-alive connections to one provider address. */
export class Transport {
  readonly #origin: string
  readonly #basePath: string
  /** Created at the first request. */
  #dispatcher: Dispatcher | undefined
  readonly #options: TransportOptions
  readonly #shares: ConnectionShares
  /** Calls whose replies wait for their readers, the longest wait first. */
  readonly #stalled = new Set<UpstreamCall>()

  constructor(baseUrl: string, options: TransportOptions) {
    const url = new URL(baseUrl)
    this.#origin = url.origin
    this.#basePath = url.pathname.replace(/\/$/, '')
    this.#options = options
    this.#shares = new ConnectionShares(options.connections)
  }

  /**
   * Sends the request; resolves at the reply's headers. Waiting for a connection is part of `first_byte`.
   * Rejects with `service_unavailable` when none is free in time, with the connection's error or the signal's reason.
   */
  async send(request: UpstreamRequest, caller: UpstreamCaller): Promise<UpstreamResponse> {
    const { first_byte: firstByteMs } = this.#options.timeouts
    caller.signal.throwIfAborted()
    if (this.#shares.tryTake(caller.scope)) return this.#dispatch(request, caller, firstByteMs)
    const startedAtMs = performance.now()
    await this.#wait(caller, firstByteMs)
    return this.#dispatch(request, caller, Math.max(1, firstByteMs - (performance.now() - startedAtMs)))
  }

  async #wait({ scope, signal }: UpstreamCaller, timeoutMs: number): Promise<void> {
    const waiting = this.#shares.wait(scope, { signal, timeoutMs, onTimeout: () => this.#noneFree() })
    const timer =
      this.#shares.heldBy(scope) === 0 ? setInterval(() => this.#makeRoom(), LOOKED_FOR_EVERY_MS) : undefined
    if (timer !== undefined) this.#makeRoom()
    try {
      await waiting
    } finally {
      clearInterval(timer)
    }
  }

  /** Ends the reply whose reader has been idle for the longest time. */
  #makeRoom(): void {
    const [longest] = this.#stalled
    if (longest !== undefined && performance.now() - longest.stalledAtMs >= GIVES_WAY_AFTER_MS) longest.giveWay()
  }

  #dispatch(
    request: UpstreamRequest,
    { scope, signal }: UpstreamCaller,
    firstByteMs: number,
  ): Promise<UpstreamResponse> {
    return new Promise((resolve, reject) => {
      const release = () => this.#shares.release(scope)
      const call = new UpstreamCall({ resolve, reject, signal, release, stalled: this.#stalled })
      this.#dispatcher ??= createDispatcher(this.#origin, this.#options)
      this.#dispatcher.dispatch(
        {
          origin: this.#origin,
          path: this.#basePath + request.path,
          method: request.method,
          headers: request.headers as string[],
          body: request.body ?? null,
          headersTimeout: firstByteMs,
          bodyTimeout: this.#options.timeouts.idle,
        },
        call,
      )
    })
  }

  #noneFree(): GatewayError {
    const { provider, connections } = this.#options
    return new GatewayError(
      'service_unavailable',
      `No connection to provider ${provider} became free in time: other requests use all ${connections}.`,
    )
  }

  async close(): Promise<void> {
    await this.#dispatcher?.destroy()
  }
}

/**
 * Loads the part of undici that connects without a proxy, 4 MB less than all of it with `fetch`, caches and mocks. Loaded
 * lazily: commands read the sections of providers and send nothing, and the gateway listens sooner.
 */
export function loadClient(): typeof Pool {
  return require('undici/lib/dispatcher/pool.js')
}

function createDispatcher(origin: string, { connections, timeouts, proxy, no_proxy }: TransportOptions): Dispatcher {
  // HTTP/1.1 on purpose: one stream per connection costs a third less CPU than HTTP/2 here, and a reset affects one call.
  const options = { connections, pipelining: 1, allowH2: false, connect: { timeout: timeouts.connect } }
  if (proxy === undefined) return new (loadClient())(origin, options)
  const { EnvHttpProxyAgent }: typeof import('undici') = require('undici')
  return new EnvHttpProxyAgent({
    ...options,
    httpsProxy: proxy,
    httpProxy: '',
    ...(no_proxy !== undefined && { noProxy: no_proxy }),
  })
}

interface UpstreamCallParts {
  readonly resolve: (response: UpstreamResponse) => void
  readonly reject: (error: Error) => void
  readonly signal: AbortSignal
  /** Returns the connection, once. */
  readonly release: () => void
  /** Contains the call while its reply waits for its reader. */
  readonly stalled: Set<UpstreamCall>
}

/** One dispatched call: undici's handler, and the source of the reply's bytes. */
class UpstreamCall implements Dispatcher.DispatchHandler, ByteSource {
  #resolve: (response: UpstreamResponse) => void
  #reject: (error: Error) => void
  #signal: AbortSignal
  #controller: Dispatcher.DispatchController | undefined
  #sink: ByteSourceSink | undefined
  #earlyEnd: (() => void) | undefined
  readonly #stopListening: () => void
  #release: (() => void) | undefined
  readonly #stalled: Set<UpstreamCall>
  /** Chunks of the current read. */
  readonly #read = new ChunkBuffer()
  #hasEnded = false
  #cancelled = false
  #informational = 0
  /** Start of the wait, by `performance.now`. */
  stalledAtMs = 0

  constructor({ resolve, reject, signal, release, stalled }: UpstreamCallParts) {
    this.#resolve = resolve
    this.#reject = reject
    this.#signal = signal
    this.#release = release
    this.#stalled = stalled
    this.#stopListening = onAbort(signal, this.#abort)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#signal.aborted) this.#abort()
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) {
      this.#countInformational(controller)
      return
    }
    this.#stopListening()
    controller.pause()
    this.#resolve({ status, headers, source: this })
  }

  #countInformational(controller: Dispatcher.DispatchController): void {
    if (++this.#informational <= MOST_INFORMATIONAL) return
    const error = new Error(`more than ${MOST_INFORMATIONAL} informational replies came before the final one`)
    controller.abort(Object.assign(error, { code: TOO_MANY_INFORMATIONAL }))
  }

  /**
   * Passes the chunks of one read on together: a provider often writes faster than they are read, and each portion costs
   * every reader as much as its bytes.
   */
  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#read.bytes === 0) process.nextTick(this.#passOn)
    this.#read.add(chunk)
    if (this.#read.bytes >= MOST_READ_BYTES) this.#passOn()
  }

  #passOn = (): void => {
    if (this.#read.bytes > 0 && !this.#cancelled) this.#sink?.data(this.#read.take())
  }

  onResponseEnd(): void {
    this.#giveBack()
    this.#passOn()
    this.#finish(() => this.#sink?.end())
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#giveBack()
    this.#stopListening()
    this.#reject(error)
    this.#passOn()
    this.#finish(() => this.#sink?.fail(error))
  }

  start(sink: ByteSourceSink): void {
    this.#sink = sink
    if (this.#earlyEnd !== undefined) this.#earlyEnd()
    else this.#controller?.resume()
  }

  pause(): void {
    this.#controller?.pause()
    if (this.#release === undefined || this.#stalled.has(this)) return
    this.stalledAtMs = performance.now()
    this.#stalled.add(this)
  }

  resume(): void {
    this.#stalled.delete(this)
    this.#controller?.resume()
  }

  /** Ends the reply, like a broken connection. */
  giveWay(): void {
    this.#stalled.delete(this)
    this.#controller?.abort(new Error('its reader was idle while another caller had no connection'))
  }

  cancel(): void {
    if (this.#hasEnded) return
    this.#cancelled = true
    this.#controller?.abort(new Error('the rest of the reply is not needed'))
  }

  #giveBack(): void {
    this.#stalled.delete(this)
    this.#release?.()
    this.#release = undefined
  }

  /** Ends the source. The end of a reply without a body, or its break, may come before the source is opened. */
  #finish(tell: () => void): void {
    if (this.#cancelled) return
    this.#hasEnded = true
    if (this.#sink === undefined) this.#earlyEnd = tell
    else tell()
  }

  #abort = (): void => {
    const reason: unknown = this.#signal.reason
    this.#controller?.abort(reason instanceof Error ? reason : new Error('aborted'))
    this.#reject(reason instanceof Error ? reason : new Error('aborted'))
  }
}
