import { LRUCache } from 'lru-cache'
import type { CapturedRequest, CaptureStore } from '../../core/ports/capture.ts'

/** Bytes that an entry costs besides its bodies. */
const ENTRY_OVERHEAD_BYTES = 1024

/** Keeps the last requests in the memory of this process, bounded in number and in bytes. */
export function createMemoryCaptures({ most, maxBytes }: { most: number; maxBytes: number }): CaptureStore {
  const kept = new LRUCache<string, CapturedRequest>({ max: most, maxSize: maxBytes, sizeCalculation: sizeOf })
  return {
    put: (captured) => void kept.set(captured.id, captured),
    // Looking at a request does not make it a later one.
    get: async (id) => kept.peek(id),
  }
}

function sizeOf({ request, canonical, versions, reply }: CapturedRequest): number {
  const bodies = [request, reply, ...versions, ...(canonical === undefined ? [] : [canonical])]
  return bodies.reduce((sum, { bytes }) => sum + bytes.length, ENTRY_OVERHEAD_BYTES)
}
