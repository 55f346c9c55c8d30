import { z } from 'zod'
import { bytes, duration } from '../core/units.ts'
import { fromEnv } from '../providers/options.ts'

/** WebSockets of the Responses API. */
const sockets = z.strictObject({
  most_of_caller: z
    .int()
    .min(0)
    .max(10_000)
    .default(32)
    .describe(
      'Most open WebSockets of a caller in a process; each may hold a message of `server.body_limit`. 0: none, and clients use HTTP.',
    ),
  most: z.int().min(1).max(100_000).default(1000).describe('Most open WebSockets of all callers in a process.'),
  idle: duration({ min: '100ms', max: '60m' })
    .prefault('15m')
    .describe(
      'Time without a request after which a WebSocket is closed. Clients open another one for their next request.',
    ),
  lifetime: duration({ min: '100ms', max: '60m' })
    .prefault('60m')
    .describe('Time after which a WebSocket is closed, once its request has ended.'),
})

/** Responses that outlive their request. */
export const responses = z.strictObject({
  keep: fromEnv(z.stringbool().or(z.boolean()).default(false), 'SVC_RESPONSES_KEEP').describe(
    'Store conversations of the Responses API in the database, so that `previous_response_id` works with providers that store none. A request with `store: false` is never stored. Off: only ids of responses that providers store are kept, without content.',
  ),
  ttl: duration({ min: '1m', max: '400d' })
    .prefault('30d')
    .describe(
      'Time for which a response can be continued, read and deleted. Providers have limits of their own, 30 days at OpenAI.',
    ),
  most_of_caller: z
    .int()
    .min(1)
    .max(100_000)
    .default(1000)
    .describe('Most responses of a caller. Beyond it, its oldest are forgotten.'),
  largest: bytes({ min: '1KB', max: '64MB' })
    .prefault('4MB')
    .describe(
      'Largest conversation that `responses.keep` stores, and that a WebSocket remembers. A larger one cannot be continued.',
    ),
  total: bytes({ min: '1MB', max: '1TB' })
    .prefault('1GB')
    .describe(
      'Most bytes of all stored responses, tested after each 64th of them. Beyond it, the oldest of the caller with the most bytes are forgotten.',
    ),
  sockets: sockets.prefault({}),
})
