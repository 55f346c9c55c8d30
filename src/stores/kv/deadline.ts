const DEADLINE_MS = 250

/** Handling of work that exceeds a store's deadline. */
export interface Lateness {
  /** Default 250. */
  readonly deadlineMs?: number
  readonly onLate?: (error: Error) => void
}

/** Rejects when `work` takes too long, and calls `onLate` then. */
export async function withDeadline<T>(
  work: Promise<T>,
  { deadlineMs = DEADLINE_MS, onLate }: Lateness = {},
): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  let isDone = false
  const give = () => {
    if (isDone) return
    const error = new Error(`the store did not answer within ${deadlineMs} ms`)
    reject(error)
    onLate?.(error)
  }
  // Timers come before sockets: after a pause of this process itself, the reply may have arrived and be unread.
  const timer = setTimeout(() => setImmediate(give), deadlineMs)
  try {
    return await Promise.race([work, late])
  } finally {
    isDone = true
    clearTimeout(timer)
  }
}
