import { messageWithCause } from '../../../core/errors.ts'
import { startInterval } from '../../../core/interval.ts'
import type { Log } from '../../../core/ports/log.ts'
import type { StoredResponses } from '../../../core/ports/stored-responses.ts'
import { PRUNED_AT_ONCE } from '../retention/prune.ts'
import type { SqlStore } from '../store.ts'

const PRUNE_EVERY_MS = 10 * 60 * 1000
/** Responses after which the bound of all together is tested again, so that no burst exceeds it by more. */
const PRUNE_EVERY_PUTS = 64

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
  const prune = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted && (await store.run('responses.prune', { mostBytes })) === PRUNED_AT_ONCE);
  }
  const onError = (error: unknown) => log.warn({ reason: messageWithCause(error) }, 'responses.prune-failed')
  const interval = startInterval(prune, { everyMs: PRUNE_EVERY_MS, onError })
  let puts = 0
  return {
    find: (scope, id) => store.run('responses.find', { scope, id }),
    async put(response) {
      await store.run('responses.put', { ...response, ...bounds })
      if (++puts % PRUNE_EVERY_PUTS === 0) void interval.run()
    },
    delete: (scope, id) => store.run('responses.delete', { scope, id }),
    close: () => interval.close(),
  }
}
