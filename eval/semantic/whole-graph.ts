import { setImmediate } from 'node:timers/promises'
import type { ScopeGraph } from '../../plugins/semantic-cache/graph/graphs.ts'

/** Stands in for the graph of a large scope: proposes every entry, so that what is measured is no matter of the graph. */
export function openWholeGraph(): ScopeGraph {
  const labels = new Set<number>()
  return {
    isReady: true,
    add: (label) => void labels.add(label),
    remove: (label) => void labels.delete(label),
    async search() {
      // A scope is fed to its graph in portions, between other events.
      await setImmediate()
      return [...labels]
    },
    drop: () => labels.clear(),
  }
}
