import { abortable } from 'turnpike/plugin'
import { EmbedderFault } from '../embedder.ts'

/**
 * Waits for a vector at most `budgetMs`, and no longer than the request is wanted. The work behind it goes on: others may
 * wait for it too. Rejects with `embedder-late`, or with the signal's reason.
 */
export function within<T>(
  work: Promise<T>,
  { budgetMs, signal }: { budgetMs: number; signal: AbortSignal },
): Promise<T> {
  const onTimeout = () => new EmbedderFault('embedder-late', `No vector within ${budgetMs} ms.`)
  return abortable(work, { signal, timeoutMs: budgetMs, onTimeout })
}
