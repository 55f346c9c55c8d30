import type { Config } from '../config/schema.ts'
import { Disposal } from '../core/disposal.ts'
import type { Log } from '../core/ports/log.ts'

/** Time that a part may take to close, in milliseconds, beside the time that running requests have to finish. */
const CLOSE_ROOM_MS = 10_000

/** A subsystem that closes its parts, the last opened first; it never rejects. */
export type Opened<Parts> = Parts & { close(): Promise<void> }

/** Opens a subsystem's parts. When one of them cannot be opened, closes the others and throws its error. */
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
