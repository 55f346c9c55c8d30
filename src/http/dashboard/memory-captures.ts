import type { CapturedBody, CapturedRequest, CaptureStore } from '../../core/ports/capture.ts'
import { releaseMemory } from '../../core/reply/release-memory.ts'

/** Overhead of an entry, in bytes. */
const ENTRY_OVERHEAD_BYTES = 1024

/**
 * Creates a capture store in memory, bounded in entries and bytes; evicts the oldest. Drops one that exceeds `maxBytes` alone.
 *
 * Bodies are copied, and the copies are freed when they are evicted. The client's own, kept until then, would wait for a
 * collection of the old generation, and with 300 KB each cause one every hundred requests.
 */
export function createMemoryCaptures({ most, maxBytes }: { most: number; maxBytes: number }): CaptureStore {
  const queue: CapturedRequest[] = []
  let keptBytes = 0
  return {
    put(captured) {
      const bytes = sizeOf(captured)
      if (bytes > maxBytes) return
      queue.push(copyOf(captured))
      keptBytes += bytes
      while (queue.length > most || keptBytes > maxBytes) keptBytes -= evict(queue)
    },
    // Read for an open page alone: an index by id would cost every request more than the search costs a page.
    async get(id) {
      const found = queue.findLast((captured) => captured.id === id)
      return found && copyOf(found)
    },
  }
}

/** Removes the oldest, and returns its size. */
function evict(queue: CapturedRequest[]): number {
  const oldest = queue.shift()
  if (oldest === undefined) return 0
  const bytes = sizeOf(oldest)
  for (const body of bodiesOf(oldest)) releaseMemory(body.bytes)
  return bytes
}

function copyOf(captured: CapturedRequest): CapturedRequest {
  const { request, canonical, versions, reply } = captured
  return {
    ...captured,
    request: copyOfBody(request),
    canonical: canonical && copyOfBody(canonical),
    versions: versions.map(copyOfBody),
    reply: copyOfBody(reply),
  }
}

function copyOfBody<Body extends CapturedBody>(body: Body): Body {
  const bytes = Buffer.allocUnsafeSlow(body.bytes.length)
  bytes.set(body.bytes)
  return { ...body, bytes }
}

function bodiesOf({ request, canonical, versions, reply }: CapturedRequest): CapturedBody[] {
  return [request, ...(canonical === undefined ? [] : [canonical]), ...versions, reply]
}

function sizeOf(captured: CapturedRequest): number {
  return bodiesOf(captured).reduce((sum, { bytes }) => sum + bytes.length, ENTRY_OVERHEAD_BYTES)
}
