import { onAbort } from 'turnpike/plugin'
import type { BytesReply } from 'turnpike/plugin/bytes'
import type { AnswerLimit, StoredReply } from 'turnpike/plugin/cache'
import type { Broadcast } from './broadcast.ts'

/** What a flight has come to, as soon as its reply has begun. */
export type Landing =
  /** A whole reply, not to be kept (an error of the provider, say): everybody gets it. */
  | { readonly kind: 'reply'; readonly reply: BytesReply }
  /** Only the leader can have it. */
  | { readonly kind: 'private' }
  /** A whole JSON answer. */
  | { readonly kind: 'entry'; readonly entry: StoredReply; readonly owner?: Owner | undefined }
  /** A stream that runs. */
  | { readonly kind: 'stream'; readonly broadcast: Broadcast; readonly owner?: Owner | undefined }

/** The caller whose limits may cut an answer short: it is good for others only if they have not. */
export interface Owner {
  readonly scope: string
  readonly limit: AnswerLimit
}

/**
 * One request on its way for several callers: the leader sends it, the others attach. It goes on as long as one of them
 * is still there, whoever that is.
 */
export class Flight {
  /** Settles when the reply has begun; rejects with what the leader's call failed with. */
  readonly landing: Promise<Landing>
  readonly fail: (error: unknown) => void
  #landed: Landing | undefined
  readonly #controller = new AbortController()
  readonly #resolve: (landing: Landing) => void
  #present = 0

  constructor() {
    const { promise, resolve, reject } = Promise.withResolvers<Landing>()
    promise.catch(() => {})
    this.landing = promise
    this.#resolve = resolve
    this.fail = reject
  }

  /** Whether a newcomer can still get the whole reply. */
  get takesNewcomers(): boolean {
    if (this.signal.aborted) return false
    return this.#landed?.kind !== 'stream' || this.#landed.broadcast.isOpen
  }

  /** The reply has begun. */
  land(landing: Landing): void {
    this.#landed = landing
    this.#resolve(landing)
  }

  /** Aborted when the last one has left. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Someone waits for the reply until `signal` says that they left, or until they call the function that this gives. */
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
