const PAGE_BYTES = 4096
const PAGES = 16_384

/**
 * Returns the CPU microseconds of the first write to a page of new memory: below one on a machine of its own, twenty on a
 * virtual one whose host takes unused memory back. A gateway that keeps something of each request pays it again and again.
 */
export function freshPageMicroseconds(): number {
  const before = process.threadCpuUsage()
  const bytes = Buffer.allocUnsafeSlow(PAGES * PAGE_BYTES)
  for (let at = 0; at < bytes.length; at += PAGE_BYTES) bytes[at] = 1
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / PAGES
}
