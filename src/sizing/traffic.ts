import { z } from 'zod'

/** The traffic that a deployment is made for, and the machines it is made of. Each field is documented here only. */
export const trafficSchema = z.strictObject({
  requests_per_second: z.number().positive().max(1e6).describe('Requests a second in the busiest hour, on average.'),
  burst: z
    .number()
    .min(1)
    .max(100)
    .default(3)
    .describe('How many times that rate comes in the busiest seconds of that hour. Agents that start together burst.'),
  busy_hours: z
    .number()
    .positive()
    .max(24)
    .default(8)
    .describe('Hours of that rate that make up a day. Decides what is stored, not how many machines there are.'),
  pipeline: z
    .enum(['none', 'default', 'capped'])
    .default('default')
    .describe(
      'What runs for a request: no module, the default pipeline, or the default pipeline with caps per day and month.',
    ),
  hits: z.number().min(0).max(1).default(0).describe('Share of the requests that `exact-cache` answers, from 0 to 1.'),
  request_kilobytes: z
    .number()
    .positive()
    .max(32_768)
    .default(60)
    .describe('Size of a request, on average. Coding agents send 40 to 300 KB, chats 1 to 10.'),
  reply_kilobytes: z.number().positive().max(32_768).default(8).describe('Size of a reply, on average.'),
  streams: z.number().min(0).max(1).default(0.9).describe('Share of the replies that are streams, from 0 to 1.'),
  stream_events: z
    .int()
    .min(1)
    .max(100_000)
    .default(200)
    .describe('Events of a stream, on average. Each comes in a packet of its own.'),
  stream_seconds: z.number().positive().max(3600).default(15).describe('How long a reply takes, on average.'),
  receipts_days: z.number().positive().max(3650).default(400).describe('`receipts.keep`.'),
  telemetry_days: z.number().positive().max(3650).default(30).describe('`telemetry.keep`.'),
  cache_hours: z.number().min(0).max(8760).default(1).describe('How long replies are stored: `exact-cache?ttl`.'),
  machine: z
    .strictObject({
      cores: z.int().min(1).max(512).default(4).describe('Cores of a machine; one gateway process runs on each.'),
      memory_gigabytes: z.number().positive().max(4096).default(8).describe('Memory of a machine.'),
    })
    .prefault({})
    .describe('The machines that gateways run on, and nothing else beside them.'),
  busiest: z
    .number()
    .min(0.1)
    .max(0.95)
    .default(0.6)
    .describe('Largest share of a machine’s CPU in a burst. The rest is for what no forecast knows.'),
  added_p99_ms: z
    .number()
    .positive()
    .max(10_000)
    .default(25)
    .describe('In a burst, 99 of 100 requests wait no longer for the gateway than these milliseconds.'),
  spare_machines: z
    .int()
    .min(0)
    .max(100)
    .default(1)
    .describe('Machines beyond those, for the one that fails or is being updated.'),
})

/** Traffic with every default filled in. */
export type Traffic = z.output<typeof trafficSchema>
