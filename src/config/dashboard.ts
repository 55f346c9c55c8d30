import { z } from 'zod'
import { bytes, duration } from '../core/units.ts'
import { fromEnv } from '../providers/options.ts'

/** Access to the dashboard, and the request bodies that it can show. */
export const dashboard = z.strictObject({
  access: fromEnv(z.enum(['loopback', 'open', 'off']).default('loopback'), 'SVC_DASHBOARD').describe(
    'Local mode: `loopback` shows the dashboard to browsers on this machine only, even when `server.host` accepts requests from other machines; `open` shows everything to every client that reaches the port: set it in a container whose port is published to this machine alone. Cloud mode asks users to sign in, whichever of the two is set. `off`: there is none.',
  ),
  capture: z
    .boolean()
    .default(true)
    .describe(
      'Keep bodies of requests and replies in memory for the dashboard. Local mode: those of the last requests. Cloud mode: those of accounts that have opted in, for the time they chose. `false`: never.',
    ),
  capture_requests: z
    .int()
    .min(1)
    .max(10_000)
    .default(200)
    .describe('Local mode: number of most recent requests whose bodies are kept.'),
  capture_memory: bytes({ min: '1MB', max: '4GB' })
    .prefault('64MB')
    .describe('Most memory for kept bodies; the oldest are evicted first. A body is truncated after 1 MB.'),
  capture_keep: duration({ min: '1m', max: '30d' })
    .prefault('1d')
    .describe('Cloud mode: time for which a kept body is available. With `redis_url` bodies are kept there.'),
})
