import { z } from 'zod'
import { bytes, duration } from '../core/units.ts'
import { fromEnv } from '../providers/options.ts'

/** Who may look at the dashboard, and what of requests it can show. */
export const dashboard = z.strictObject({
  access: fromEnv(z.enum(['loopback', 'open', 'off']).default('loopback'), 'SVC_DASHBOARD').describe(
    'Local mode: `loopback` shows the dashboard to browsers on this machine only, also when `server.host` lets others send requests; `open` shows everything to whoever reaches the port: set it in a container whose port is published to this machine alone. Cloud mode asks users to sign in, whichever of the two is set. `off`: there is none.',
  ),
  capture: z
    .boolean()
    .default(true)
    .describe(
      'Whether bodies of requests and replies may be kept in memory for the dashboard. Local mode: of the last requests. Cloud mode: of accounts that have switched it on, for as long as they said. `false`: never.',
    ),
  capture_requests: z
    .int()
    .min(1)
    .max(10_000)
    .default(200)
    .describe('Local mode: of how many requests, the last ones, bodies are kept.'),
  capture_memory: bytes({ min: '1MB', max: '4GB' })
    .prefault('64MB')
    .describe('How much memory kept bodies may take; the oldest go first. A body is cut after 1 MB.'),
  capture_keep: duration({ min: '1m', max: '30d' })
    .prefault('1d')
    .describe('Cloud mode: how long a kept body can be seen. With `redis_url` bodies are kept there.'),
})
