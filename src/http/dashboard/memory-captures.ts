import type { CapturedRequest, CaptureStore } from '../../core/ports/capture.ts'

/** Overhead of an entry, in bytes. */
const ENTRY_OVERHEAD_BYTES = 1024

/** Creates a capture store in memory, bounded in entries and bytes; evicts the oldest. Drops one that exceeds `maxBytes` alone. */
export function createMemoryCaptures({ most, maxBytes }: { most: number; maxBytes: number }): CaptureStore {
  const queue: CapturedRequest[] = []
  let keptBytes = 0
  return {
    put(captured) {
      const bytes = sizeOf(captured)
      if (bytes > maxBytes) return
      queue.push(captured)
      keptBytes += bytes
      while (queue.length > most || keptBytes > maxBytes) keptBytes -= sizeOf(queue.shift() ?? captured)
    },
    // Read for an open page alone: an index by id would cost every request more than the search costs a page.
    get: async (id) => queue.findLast((captured) => captured.id === id),
  }
}

function sizeOf({ request, canonical, versions, reply }: CapturedRequest): number {
  let bytes = ENTRY_OVERHEAD_BYTES + request.bytes.length + reply.bytes.length + (canonical?.bytes.length ?? 0)
  for (const version of versions) bytes += version.bytes.length
  return bytes
}
