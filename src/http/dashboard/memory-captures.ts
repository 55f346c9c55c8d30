import type { CapturedRequest, CaptureStore } from '../../core/ports/capture.ts'

/** Overhead of an entry, in bytes. */
const ENTRY_OVERHEAD_BYTES = 1024

/** Creates a capture store in memory, bounded in entries and bytes; evicts the oldest. */
export function createMemoryCaptures({ most, maxBytes }: { most: number; maxBytes: number }): CaptureStore {
  // A map iterates in the order of insertion.
  const kept = new Map<string, CapturedRequest>()
  let keptBytes = 0
  const evict = (id: string, captured: CapturedRequest): void => {
    kept.delete(id)
    keptBytes -= sizeOf(captured)
  }
  return {
    put(captured) {
      kept.set(captured.id, captured)
      keptBytes += sizeOf(captured)
      for (const [id, oldest] of kept) {
        if (kept.size <= most && keptBytes <= maxBytes) break
        evict(id, oldest)
      }
    },
    get: async (id) => kept.get(id),
  }
}

function sizeOf({ request, canonical, versions, reply }: CapturedRequest): number {
  let bytes = ENTRY_OVERHEAD_BYTES + request.bytes.length + reply.bytes.length + (canonical?.bytes.length ?? 0)
  for (const version of versions) bytes += version.bytes.length
  return bytes
}
