import { EmbedderFault } from '../embedder.ts'

/**
 * Waits for a vector at most `budgetMs`, and no longer than the request is wanted. The work behind it goes on: others may
 * wait for it too. Rejects with `embedder-late`, or with the signal's reason.
 */
export function within<T>(
  work: Promise<T>,
  { budgetMs, signal }: { budgetMs: number; signal: AbortSignal },
): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const leave = () => reject(signal.reason)
  const late = () => reject(new EmbedderFault('embedder-late', `No vector within ${budgetMs} ms.`))
  const timer = setTimeout(late, budgetMs)
  signal.addEventListener('abort', leave, { once: true })
  if (signal.aborted) leave()
  work.then(resolve, reject)
  const done = () => {
    clearTimeout(timer)
    signal.removeEventListener('abort', leave)
  }
  promise.then(done, done)
  return promise
}
