import { BytesReply, type ReplyHeaders } from 'turnpike/plugin/bytes'
import { type AnswerLimit, type StoredReply, storedOfBytes } from 'turnpike/plugin/cache'
import { onAbort } from 'turnpike/plugin/thread'
import type { Broadcast } from './broadcast.ts'
import type { Waiting } from './share.ts'

/** Result of a flight, available as soon as its reply has begun. */
export type FlightResult =
  /** A whole reply. */
  | { readonly kind: 'whole'; readonly whole: WholeReply; readonly owner?: Owner | undefined }
  /** A reply for the leader only. */
  | { readonly kind: 'private' }
  /** A stored reply of another instance. */
  | { readonly kind: 'entry'; readonly entry: StoredReply }
  /** A running stream. */
  | { readonly kind: 'stream'; readonly broadcast: Broadcast; readonly owner?: Owner | undefined }

/** A whole reply, which is read only when it is to be stored or shared. */
export class WholeReply {
  readonly reply: BytesReply
  /** Without those that plugins add later for the leader alone. */
  readonly #headers: ReplyHeaders
  #entry: StoredReply | undefined | 'unread' = 'unread'

  constructor(reply: BytesReply) {
    this.reply = reply
    this.#headers = { ...reply.headers }
  }

  /** Unset for one that is not stored (a provider error, for example): every client gets it. */
  get entry(): StoredReply | undefined {
    if (this.#entry === 'unread') this.#entry = storedOfBytes(this.reply, this.#headers)
    return this.#entry
  }

  /** Returns the reply for another client. */
  copy(): BytesReply {
    const { status, bytes, usage, dialect } = this.reply
    return new BytesReply(status, { ...this.#headers }, bytes, { usage, dialect })
  }
}

/** Caller whose limits may truncate a reply: it is valid for others only if they have not. */
export interface Owner {
  readonly scope: string
  readonly limit: AnswerLimit
}

/**
 * One in-flight request of several callers: the leader sends it, the others attach. It continues as long as one of them
 * is present.
 */
export class Flight {
  /** Settles when the reply has begun; rejects with the error of the leader's call. */
  readonly result: Promise<FlightResult>
  readonly fail: (error: unknown) => void
  #result: FlightResult | undefined
  readonly #controller = new AbortController()
  readonly #resolve: (result: FlightResult) => void
  #present = 0
  /** The reply, while it waits to be stored. */
  waiting: Waiting | undefined

  constructor() {
    const { promise, resolve, reject } = Promise.withResolvers<FlightResult>()
    promise.catch(() => {})
    this.result = promise
    this.#resolve = resolve
    this.fail = reject
  }

  /** True while a new client can still get the whole reply. */
  get takesNewcomers(): boolean {
    if (this.signal.aborted) return false
    return this.#result?.kind !== 'stream' || this.#result.broadcast.isOpen
  }

  /** Resolves `result`: the reply has begun. */
  resolve(result: FlightResult): void {
    this.#result = result
    this.#resolve(result)
  }

  /** Aborted when the last client has left. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Adds a client until `signal` is aborted or the returned function is called. */
  join(signal: AbortSignal): () => void {
    this.#present++
    let hasLeft = false
    const leave = () => {
      if (hasLeft) return
      hasLeft = true
      stopListening?.()
      this.#present--
      if (this.#present === 0) this.#controller.abort(signal.reason)
    }
    let stopListening: (() => void) | undefined
    stopListening = onAbort(signal, leave)
    return leave
  }
}
