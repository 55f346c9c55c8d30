import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import { createHoldBody } from './bodies.ts'
import type { Gateway as StartedGateway } from './gateway-process.ts'
import { residentBytes } from './process-accounting.ts'

/** Gateway whose streams are opened and whose memory is measured. */
type Gateway = Pick<StartedGateway, 'origin' | 'headers' | 'pids'>

const LONGEST_OPENING_MS = 20_000
const SETTLE_MS = 3_000

/**
 * Opens `streamCount` streams that stay silent after their first event; returns the resident bytes that each adds to
 * the gateway, without kernel memory of its sockets. Throws when not every stream opens within 20 seconds.
 */
export async function measureIdleStream(gateway: Gateway, streamCount: number): Promise<number> {
  const pool = new Pool(gateway.origin, { bodyTimeout: 0 })
  const closing = new AbortController()
  const body = createHoldBody()
  try {
    await openStreams(pool, gateway, { body, count: Math.ceil(streamCount / 10), signal: closing.signal })
    await sleep(SETTLE_MS)
    const beforeBytes = residentBytes(gateway.pids())
    await openStreams(pool, gateway, { body, count: streamCount, signal: closing.signal })
    await sleep(SETTLE_MS)
    return (residentBytes(gateway.pids()) - beforeBytes) / streamCount
  } finally {
    closing.abort()
    // Not awaited: requests without a connection can delay it for minutes; stopping the gateway frees them.
    pool.destroy().catch(() => {})
  }
}

async function openStreams(
  pool: Pool,
  { headers }: Gateway,
  { body, count, signal }: { body: Buffer; count: number; signal: AbortSignal },
): Promise<void> {
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(LONGEST_OPENING_MS)])
  const open = async () => {
    const reply = await pool.request({ method: 'POST', path: '/v1/messages', headers, body, signal })
    // The stream ends with an error when this side closes it, as planned.
    reply.body.on('error', () => {})
    await once(reply.body, 'data', { signal: deadline })
  }
  await Promise.all(Array.from({ length: count }, open))
}
