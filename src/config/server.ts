import { z } from 'zod'
import { bytes, duration } from '../core/units.ts'
import { address, fromEnv } from '../providers/options.ts'

/** Bodies of clients without an account. */
const unpaidBodies = z.strictObject({
  limit: bytes({ min: '1KB', max: '256MB' })
    .prefault('1MB')
    .describe(
      'Largest body. The default exceeds the text that the price of a call covers with most models; raise it for agents that pay for calls with large images. Calls of a prepaid session use `server.body_limit`.',
    ),
  at_once: bytes({ min: '1MB', max: '16GB' })
    .prefault('64MB')
    .describe(
      'Most bytes of such bodies in flight. Beyond it, the idlest body of the address that sends most is dropped: 503 with `retry-after`.',
    ),
  timeout: duration({ min: '1s', max: '30m' })
    .prefault('20s')
    .describe('Time limit for receiving such a body. Beyond it: 408. Raise it for agents on slow links.'),
})

/** Listening address, and limits on clients. */
export const server = z.strictObject({
  host: fromEnv(z.string().min(1).optional(), 'HOST').describe(
    'Address to listen on. Unset: 127.0.0.1 in local mode, 0.0.0.0 in cloud mode.',
  ),
  local_open: fromEnv(z.stringbool().or(z.boolean()).default(false), 'SVC_LOCAL_OPEN').describe(
    'Local mode: allow a `host` that other machines reach. They then send requests with your provider keys, without a key of their own. `false` prevents such a start-up. Set it in a container whose port is published to this machine alone.',
  ),
  port: fromEnv(z.coerce.number().int().min(0).max(65535).default(3099), 'PORT').describe(
    'TCP port to listen on; 0 takes a free one.',
  ),
  public_url: fromEnv(address.optional(), 'SVC_PUBLIC_URL').describe(
    'Public address of the gateway, used in links and for webhooks. In local mode the origin guard accepts its host for pages and for GET requests on loopback; set it when a proxy or tunnel maps a name here.',
  ),
  dashboard_url: fromEnv(address.optional(), 'SVC_DASHBOARD_URL').describe(
    'Page where users manage their account; they are redirected there after paying. Unset: `/dashboard` below `public_url`.',
  ),
  body_limit: bytes({ min: '1KB', max: '256MB' })
    .prefault('32MB')
    .describe('Largest request body. Larger ones are answered 413 while they arrive.'),
  bodies_at_once: bytes({ min: '1MB', max: '64GB' })
    .prefault('512MB')
    .describe(
      'Most bytes of request bodies in flight, of all callers together. Beyond it, the idlest body of the caller that sends most is dropped: 503 with `retry-after`. Lower it where memory is scarce; at least `body_limit` counts.',
    ),
  unpaid_bodies: unpaidBodies
    .prefault({})
    .describe('Bodies of clients without an account: unpaid calls, quotes and webhooks.'),
  header_timeout: duration({ min: '1s', max: '5m' })
    .prefault('15s')
    .describe('Time limit for receiving the request headers.'),
  body_timeout: duration({ min: '1s', max: '30m' })
    .prefault('2m')
    .describe(
      'Time limit for receiving the whole request, headers included. Raise it for large bodies over slow links.',
    ),
  keep_alive_timeout: duration({ min: '1s', max: '1h' })
    .prefault('75s')
    .describe(
      'Idle time-out of a client connection. Set it above that of a load balancer in front, which otherwise sees resets.',
    ),
  drain_delay: duration({ min: '0s', max: '10m' })
    .prefault('0s')
    .describe(
      'Time after SIGTERM during which requests are still accepted, while `GET /ready` replies 503 and each reply closes its connection. Behind a load balancer: longer than its detection time, interval times threshold.',
    ),
  drain_timeout: duration({ min: '0s', max: '1h' })
    .prefault('30s')
    .describe(
      'Time limit for in-flight replies to finish after SIGTERM before they are aborted; and then for what waits in memory (receipts, telemetry, ends of calls and of holds) to be stored.',
    ),
  stall_timeout: duration({ min: '1s', max: '1h' })
    .prefault('30s')
    .describe(
      'Longest time for which a client may not read its reply. Then its connection is closed, the provider call is aborted, and the output so far is settled. It starts once the network’s buffers, some megabytes, are full. Raise it for clients that pause on purpose.',
    ),
  ping_interval: duration({ min: '100ms', max: '10m' })
    .prefault('15s')
    .describe(
      'Idle time of a streamed reply after which the client gets a `ping` event, or a comment for chat completions; between `message_start` and `message_stop` only.',
    ),
  cors_origins: fromEnv(z.array(z.string().min(1)).default([]), 'SVC_CORS_ORIGINS').describe(
    'Browser origins that may call the gateway, e.g. `https://app.example.com`. `*` allows all. In the environment: separated by commas.',
  ),
})
