const DEADLINE_MS = 250

/** Rejects when `work` takes longer than a store may, and calls `onLate` then. */
export async function withDeadline<T>(work: Promise<T>, onLate = () => {}): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    reject(new Error(`the store did not answer within ${DEADLINE_MS} ms`))
    onLate()
  }, DEADLINE_MS)
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
