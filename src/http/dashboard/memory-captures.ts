import { LRUCache } from 'lru-cache'
import type { CapturedRequest, CaptureStore } from '../../core/ports/capture.ts'

/** Overhead of an entry, in bytes. */
const ENTRY_OVERHEAD_BYTES = 1024

/** Creates a capture store in memory, bounded in entries and bytes; evicts the oldest. */
export function createMemoryCaptures({ most, maxBytes }: { most: number; maxBytes: number }): CaptureStore {
  const kept = new LRUCache<string, CapturedRequest>({ max: most, maxSize: maxBytes, sizeCalculation: sizeOf })
  return {
    put: (captured) => void kept.set(captured.id, captured),
    // Reading an entry does not make it more recent.
    get: async (id) => kept.peek(id),
  }
}

function sizeOf({ request, canonical, versions, reply }: CapturedRequest): number {
  const bodies = [request, reply, ...versions, ...(canonical === undefined ? [] : [canonical])]
  return bodies.reduce((sum, { bytes }) => sum + bytes.length, ENTRY_OVERHEAD_BYTES)
}
