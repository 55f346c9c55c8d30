import type { CapturedRequest, CaptureStore } from '../../core/ports/capture.ts'

/** Overhead of an entry, in bytes. */
const ENTRY_OVERHEAD_BYTES = 1024

/** Creates a capture store in memory, bounded in entries and bytes; evicts the oldest. */
export function createMemoryCaptures({ most, maxBytes }: { most: number; maxBytes: number }): CaptureStore {
  const kept = new Map<string, CapturedRequest>()
  // The map has the same order, but its first entry is found after a search over those deleted before.
  const queue: CapturedRequest[] = []
  let keptBytes = 0
  const evictOldest = (): void => {
    const oldest = queue.shift()
    if (oldest === undefined) return
    kept.delete(oldest.id)
    keptBytes -= sizeOf(oldest)
  }
  return {
    put(captured) {
      queue.push(captured)
      kept.set(captured.id, captured)
      keptBytes += sizeOf(captured)
      while (queue.length > most || keptBytes > maxBytes) evictOldest()
    },
    get: async (id) => kept.get(id),
  }
}

function sizeOf({ request, canonical, versions, reply }: CapturedRequest): number {
  let bytes = ENTRY_OVERHEAD_BYTES + request.bytes.length + reply.bytes.length + (canonical?.bytes.length ?? 0)
  for (const version of versions) bytes += version.bytes.length
  return bytes
}
