import { fileURLToPath } from 'node:url'

/** What a gateway's process is told at its start. */
export interface Place {
  port: number
  upstreamOrigin: string
  /** An empty folder of its own. */
  dataDir: string
}

/** One thing that is measured: how its process is started and how it is talked to. */
export interface Target {
  name: string
  label: string
  /** Arguments for Node; undefined means no process: the load goes straight to the upstream. */
  args?: string[]
  environment?: (place: Place) => Record<string, string>
  readyPath: string
  headers: (place: Place) => Record<string, string>
  /** Whether each request differs from all others; otherwise all of a case are the same. */
  unique: boolean
  /** How many of the requests must reach the upstream: all, or none after the first. */
  reachesUpstream: boolean
}

const inBench = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

const ours = {
  args: [inBench('../bin/turnpike.mjs'), 'start'],
  environment: ({ port, upstreamOrigin, dataDir }: Place) => ({
    PORT: String(port),
    HOST: '127.0.0.1',
    ANTHROPIC_BASE_URL: upstreamOrigin,
    ANTHROPIC_API_KEY: 'x',
    SVC_DATA_DIR: dataDir,
    LOG_LEVEL: 'info',
  }),
  readyPath: '/health',
  unique: true,
  reachesUpstream: true,
}

const client = {
  authorization: 'Bearer bench',
  'content-type': 'application/json',
  'anthropic-version': '2023-06-01',
}

/** The straight line to the upstream, which every added latency is measured against. */
export const direct: Target = {
  name: 'direct',
  label: 'direct, no gateway',
  readyPath: '/',
  headers: () => client,
  unique: true,
  reachesUpstream: true,
}

/** The gateways that are compared, each in a process of its own. */
export const targets: readonly Target[] = [
  {
    name: 'bare',
    label: 'bare relay (the reference)',
    args: [inBench('bare.ts')],
    environment: ({ port, upstreamOrigin }) => ({ PORT: String(port), UPSTREAM: upstreamOrigin }),
    readyPath: '/',
    headers: () => client,
    unique: true,
    reachesUpstream: true,
  },
  { ...ours, name: 'none', label: 'ours, empty pipeline', headers: () => ({ ...client, 'x-svc-pipe': 'none' }) },
  { ...ours, name: 'default', label: 'ours, default pipeline', headers: () => client },
  {
    ...ours,
    name: 'hit',
    label: 'ours, exact-cache hit',
    headers: () => ({ ...client, 'x-svc-pipe': 'exact-cache' }),
    unique: false,
    reachesUpstream: false,
  },
  {
    name: 'peer',
    label: 'peer: Portkey 1.15.2',
    args: [
      `--import=${inBench('peer/loopback.ts')}`,
      inBench('peer/node_modules/@portkey-ai/gateway/build/start-server.js'),
      '--headless',
    ],
    environment: ({ port }) => ({ BENCH_PEER_PORT: String(port) }),
    readyPath: '/',
    headers: ({ upstreamOrigin }) => ({
      ...client,
      'x-portkey-provider': 'anthropic',
      // The peer appends `/messages`.
      'x-portkey-custom-host': `${upstreamOrigin}/v1`,
    }),
    unique: true,
    reachesUpstream: true,
  },
]
