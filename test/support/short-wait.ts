/**
 * Limit in milliseconds for an answer that is promised within two seconds, on a busy machine; `send` waits 40 seconds, in
 * which a lost deadline would pass.
 */
export const SHORT_WAIT_MS = 12_000

/** Rejects when the promise is not settled after `SHORT_WAIT_MS`. */
export async function soon<T>(promise: Promise<T>, what: string): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`Expected within ${SHORT_WAIT_MS} ms: ${what}`)), SHORT_WAIT_MS)
  try {
    return await Promise.race([promise, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
