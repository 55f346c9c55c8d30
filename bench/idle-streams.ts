import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import { createHoldBody } from './bodies.ts'
import type { Gateway as StartedGateway } from './gateway-process.ts'
import { residentBytes } from './process-accounting.ts'

/** Where streams are opened, and whose memory is looked at. */
type Gateway = Pick<StartedGateway, 'origin' | 'headers' | 'pids'>

const LONGEST_OPENING_MS = 20_000
const SETTLE_MS = 3_000

/**
 * Opens `streamCount` streams that stay silent after their first event; returns the resident bytes each adds to the
 * gateway. Kernel memory of its sockets is not in it. Throws when not every stream opens within 20 seconds.
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
    // Not awaited: requests that never got a connection can hold it up for minutes; stopping the gateway frees them.
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
    // The stream ends with an error when it is closed from here; that is its planned end.
    reply.body.on('error', () => {})
    await once(reply.body, 'data', { signal: deadline })
  }
  await Promise.all(Array.from({ length: count }, open))
}
