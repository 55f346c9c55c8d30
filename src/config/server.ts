import { z } from 'zod'
import { bytes, duration } from '../core/units.ts'
import { address, fromEnv } from '../providers/options.ts'

/** Bodies of clients without an account. */
const unpaidBodies = z.strictObject({
  limit: bytes({ min: '1KB', max: '256MB' })
    .prefault('1MB')
    .describe(
      'Largest body. The default holds more text than the price of a call covers with most models; raise it for agents that pay for calls with large images. Calls of a prepaid session have `server.body_limit`.',
    ),
  at_once: bytes({ min: '1MB', max: '16GB' })
    .prefault('64MB')
    .describe(
      'Bytes of such bodies that may be arriving at the same time. Beyond it the address that sends most loses the body on which nothing came for the longest time: 503 with `retry-after`.',
    ),
  timeout: duration({ min: '1s', max: '30m' })
    .prefault('20s')
    .describe('How long such a body may take to arrive. Beyond it: 408. Raise it for agents on slow lines.'),
})

/** How it listens, and how long it waits for clients. */
export const server = z.strictObject({
  host: fromEnv(z.string().min(1).optional(), 'HOST').describe(
    'Address to listen on. Unset: 127.0.0.1 in local mode, 0.0.0.0 in cloud mode.',
  ),
  local_open: fromEnv(z.stringbool().or(z.boolean()).default(false), 'SVC_LOCAL_OPEN').describe(
    'Local mode: whether `host` may be an address that other machines reach. They then send requests with your provider keys and need no key of their own. `false` refuses such a start. Set it in a container whose port is published to this machine alone.',
  ),
  port: fromEnv(z.coerce.number().int().min(0).max(65535).default(3099), 'PORT').describe(
    'TCP port to listen on; 0 takes a free one.',
  ),
  public_url: fromEnv(address.optional(), 'SVC_PUBLIC_URL').describe(
    'Address under which the gateway is reached from outside, used in links and for webhooks. In local mode its host is one under which pages, and GET requests on loopback, are answered; set it when a proxy or tunnel leads a name here.',
  ),
  dashboard_url: fromEnv(address.optional(), 'SVC_DASHBOARD_URL').describe(
    'Where people manage their account; they are sent there after paying. Unset: `/dashboard` below `public_url`.',
  ),
  body_limit: bytes({ min: '1KB', max: '256MB' })
    .prefault('32MB')
    .describe('Largest request body. Larger ones are answered 413 while they arrive.'),
  bodies_at_once: bytes({ min: '1MB', max: '64GB' })
    .prefault('512MB')
    .describe(
      'Bytes of request bodies that may be arriving at the same time, of all callers together. Beyond it the caller who sends most loses the body on which nothing came for the longest time: 503 with `retry-after`. Lower it where memory is scarce; at least `body_limit` counts.',
    ),
  unpaid_bodies: unpaidBodies
    .prefault({})
    .describe('Bodies of clients without an account: calls that are not paid yet, quotes, and webhooks.'),
  header_timeout: duration({ min: '1s', max: '5m' })
    .prefault('15s')
    .describe('How long a client may take to send its request headers.'),
  body_timeout: duration({ min: '1s', max: '30m' })
    .prefault('2m')
    .describe(
      'How long a client may take to send its whole request, headers included. Raise it for large bodies over slow lines.',
    ),
  keep_alive_timeout: duration({ min: '1s', max: '1h' })
    .prefault('75s')
    .describe(
      'How long an idle client connection is kept. Longer than that of a load balancer in front, or it sees resets.',
    ),
  drain_delay: duration({ min: '0s', max: '10m' })
    .prefault('0s')
    .describe(
      'How long after SIGTERM requests are still taken, while `GET /ready` answers 503 and each reply closes its connection. Behind a load balancer: longer than it takes to notice, its interval times its threshold.',
    ),
  drain_timeout: duration({ min: '0s', max: '1h' })
    .prefault('30s')
    .describe('How long running replies may take to finish after SIGTERM before they are cut.'),
  stall_timeout: duration({ min: '1s', max: '1h' })
    .prefault('30s')
    .describe(
      'How long a client may take nothing of what is sent to it. Then its connection is cut, the provider’s call is ended, and what was produced is settled. It begins when the network’s buffers, some megabytes, are full. Raise it for clients that pause on purpose.',
    ),
  ping_interval: duration({ min: '100ms', max: '10m' })
    .prefault('15s')
    .describe(
      'Silence on a streamed reply after which the client is sent a `ping` event, or a comment if it is a chat client; between `message_start` and `message_stop` only.',
    ),
  cors_origins: fromEnv(z.array(z.string().min(1)).default([]), 'SVC_CORS_ORIGINS').describe(
    'Browser origins that may call the gateway, e.g. `https://app.example.com`. `*` allows all. In the environment: separated by commas.',
  ),
})
