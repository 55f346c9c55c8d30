const DEADLINE_MS = 250

/** Rejects when `work` takes longer than a store may. */
export async function withDeadline<T>(work: Promise<T>, deadlineMs = DEADLINE_MS): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const give = () => reject(new Error(`the store did not answer within ${deadlineMs} ms`))
  // Timers come before sockets: after a pause of this process's own, the answer may be there and not yet read.
  const timer = setTimeout(() => setImmediate(give), deadlineMs)
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
