import type { Config } from '../config/schema.ts'
import { Disposal } from '../core/disposal.ts'
import type { Log } from '../core/ports/log.ts'

/** Longest time for a part to close, in milliseconds, in addition to the time for in-flight requests to finish. */
const CLOSE_ROOM_MS = 10_000

/** A subsystem that closes its parts in reverse order; closing never rejects. */
export type Opened<Parts> = Parts & { close(): Promise<void> }

/** Opens a subsystem's parts. If one fails to open, closes the others and throws its error. */
export async function openParts<Parts extends object>(
  { config, log }: { config: Config; log: Log },
  open: (disposal: Disposal) => Parts | Promise<Parts>,
): Promise<Opened<Parts>> {
  const disposal = new Disposal({ log, partTimeoutMs: config.server.drain_timeout + CLOSE_ROOM_MS })
  try {
    return { ...(await open(disposal)), close: () => disposal.close() }
  } catch (error) {
    await disposal.close()
    throw error
  }
}
