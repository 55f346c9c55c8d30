/** Kind of traffic: request size, streaming, and load. */
export interface Case {
  name: string
  label: string
  bodyBytes: number
  stream: boolean
  /**
   * Requests in flight while CPU is measured; more for streams, since the peer sleeps before a stream's first event.
   */
  connections: number
  /** Modest rate at which latency is measured: a third of the slowest gateway's maximum. */
  requestsPerSecond: number
}

/** Cases of the benchmark, in the order of its tables. */
export const cases: readonly Case[] = [
  {
    name: 'json-1k',
    label: 'JSON 1 KB',
    bodyBytes: 1024,
    stream: false,
    connections: 16,
    requestsPerSecond: 200,
  },
  {
    name: 'json-30k',
    label: 'JSON 30 KB',
    bodyBytes: 30 * 1024,
    stream: false,
    connections: 16,
    requestsPerSecond: 150,
  },
  {
    name: 'json-300k',
    label: 'JSON 300 KB',
    bodyBytes: 300 * 1024,
    stream: false,
    connections: 16,
    requestsPerSecond: 80,
  },
  {
    name: 'sse',
    label: 'SSE, 50 events',
    bodyBytes: 1024,
    stream: true,
    connections: 32,
    requestsPerSecond: 80,
  },
]
