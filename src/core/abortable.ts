/** Limits of a wait; the work itself goes on. */
export interface WaitLimits {
  /** Ends the wait with its reason, at once when it is aborted already. */
  readonly signal?: AbortSignal | undefined
  /** Longest wait in milliseconds. Default: none. */
  readonly timeoutMs?: number | undefined
  /** Makes the error of a wait that took too long. */
  readonly onTimeout?: (() => Error) | undefined
}

const NOTHING = () => {}

/**
 * Calls `listener` once: when `signal` is aborted, or at once when it is aborted already, which a listener added by hand
 * would miss. Returns a function that removes it.
 */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  if (signal.aborted) {
    listener()
    return NOTHING
  }
  signal.addEventListener('abort', listener, { once: true })
  return () => signal.removeEventListener('abort', listener)
}

/**
 * Waits for `work` within limits. Rejects with the work's error, the signal's reason or the error of `onTimeout`; work that
 * fails after that is not an unhandled rejection.
 */
export function abortable<T>(work: Promise<T>, { signal, timeoutMs, onTimeout }: WaitLimits): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const late = () => reject(onTimeout?.() ?? new Error(`not done within ${timeoutMs} ms`))
  const timer = timeoutMs === undefined ? undefined : setTimeout(late, timeoutMs)
  const stopListening = signal === undefined ? NOTHING : onAbort(signal, () => reject(signal.reason))
  const settle = () => {
    clearTimeout(timer)
    stopListening()
  }
  promise.then(settle, settle)
  work.then(resolve, reject)
  return promise
}
