import cluster from 'node:cluster'
import type { Channel } from '../../core/ports/channel.ts'
import { connectPeers } from '../../core/telemetry/peers.ts'
import type { ProcessSnapshot, Snapshot } from './print.ts'

/**
 * Collects the values of all workers on one port, each with a label of its own, or those of the only process. A scrape
 * reaches any one worker, which queries the others; one that hangs is left out, since the values of the rest matter
 * all the more then.
 */
export function collector(
  snapshot: () => Snapshot,
  workers: Channel | undefined,
): () => Promise<readonly ProcessSnapshot[]> {
  const own = (): ProcessSnapshot => ({ worker: cluster.worker && String(cluster.worker.id), snapshot: snapshot() })
  if (workers === undefined) return async () => [own()]
  const ask = connectPeers({ channel: workers, topic: 'metrics', answer: async () => JSON.stringify(own()) })
  return async function collect() {
    const others = await ask('')
    // Safe: the other workers run the same code.
    return [own(), ...others.map((text) => JSON.parse(text) as ProcessSnapshot)]
  }
}
