const DEADLINE_MS = 250

/** What becomes of work that takes longer than a store may. */
export interface Lateness {
  /** Default 250. */
  readonly deadlineMs?: number
  readonly onLate?: () => void
}

/** Rejects when `work` takes too long, and calls `onLate` then. */
export async function withDeadline<T>(
  work: Promise<T>,
  { deadlineMs = DEADLINE_MS, onLate }: Lateness = {},
): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    reject(new Error(`the store did not answer within ${deadlineMs} ms`))
    onLate?.()
  }, deadlineMs)
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
