import { messageWithCause } from '../../../core/errors.ts'
import { startInterval } from '../../../core/interval.ts'
import type { Log } from '../../../core/ports/log.ts'
import type { StoredResponses } from '../../../core/ports/stored-responses.ts'
import { PRUNED_AT_ONCE } from '../retention/prune.ts'
import type { SqlStore } from '../store.ts'
import { sizeOf } from './row-size.ts'

const PRUNE_EVERY_MS = 10 * 60 * 1000
const FOREVER_MS = Date.UTC(2000, 0, 1)
/**
 * Share of the bound of all together that is stored or deleted before it is tested again, which reads the sizes of all rows;
 * other instances store and delete too.
 */
const PRUNE_STEP = 1 / 64

/** Input of `createStoredResponses`; `config/responses.ts` describes the bounds. */
export interface StoredResponsesOptions {
  readonly store: Pick<SqlStore, 'run'>
  readonly ttlMs: number
  readonly mostOfCaller: number
  readonly mostBytes: number
  readonly log: Log
}

/** Creates the store of responses in the database; deletes what has expired or exceeds the bounds until it is closed. */
export function createStoredResponses({
  store,
  log,
  mostBytes,
  ...bounds
}: StoredResponsesOptions): StoredResponses & { close(): Promise<void> } {
  const stepBytes = mostBytes * PRUNE_STEP
  /** Every further run covers the revocations of three, since a key may be in use for a moment after its own. */
  let withinMs = FOREVER_MS
  const pruneOldest = async (scope: string, excessBytes: number, signal: AbortSignal): Promise<void> => {
    for (let bytes = excessBytes; bytes > 0 && !signal.aborted; ) {
      const deletedBytes = await store.run('responses.prune-oldest', { scope, bytes })
      if (deletedBytes === 0) return
      bytes -= deletedBytes
    }
  }
  const prune = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted && (await store.run('responses.prune-expired', {})) === PRUNED_AT_ONCE);
    while (!signal.aborted && (await store.run('responses.prune-revoked', { withinMs })) === PRUNED_AT_ONCE);
    withinMs = 3 * PRUNE_EVERY_MS
    while (!signal.aborted) {
      const { bytes, heaviest } = await store.run('responses.sum', {})
      if (bytes <= mostBytes) return
      await pruneOldest(heaviest, Math.min(bytes - mostBytes, stepBytes), signal)
    }
  }
  const onError = (error: unknown) => log.warn({ reason: messageWithCause(error) }, 'responses.prune-failed')
  const interval = startInterval(prune, { everyMs: PRUNE_EVERY_MS, onError })
  let untestedBytes = 0
  return {
    find: (scope, id) => store.run('responses.find', { scope, id }),
    contentBytes: (scope, id) => store.run('responses.content-bytes', { scope, id }),
    async put(response) {
      await store.run('responses.put', { ...response, ...bounds })
      untestedBytes += sizeOf(response)
      if (untestedBytes < stepBytes) return
      untestedBytes = 0
      void interval.run()
    },
    delete: (scope, id) => store.run('responses.delete', { scope, id }),
    close: () => interval.close(),
  }
}
