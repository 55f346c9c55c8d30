import { fileURLToPath } from 'node:url'
import type { Wording } from './bodies.ts'

/** Parameters of a gateway's process. */
export interface Place {
  port: number
  upstreamOrigin: string
  /** Empty folder for its data. */
  dataDir: string
}

/** Target of measurements: how to start its process and send to it. */
export interface Target {
  name: string
  label: string
  /** Arguments for Node; undefined means no process: the load goes straight to the upstream. */
  args?: string[]
  environment?: (place: Place) => Record<string, string>
  readyPath: string
  headers: (place: Place) => Record<string, string>
  /** Dialect of its client, and the model that selects the upstream. */
  wording: Wording
  /** Set when each request differs from all others; otherwise all of a case are equal. */
  unique: boolean
  /** Number of the requests that must reach the upstream: all, or none after the first. */
  reachesUpstream: boolean
}

const inBench = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

/** Dialects of clients, with the requested model. */
const wordings = {
  messages: { dialect: 'messages', model: 'claude-sonnet-4-5' },
  messagesToChat: { dialect: 'messages', model: 'gpt-4.1' },
  chat: { dialect: 'chat', model: 'gpt-4.1' },
  chatToMessages: { dialect: 'chat', model: 'claude-sonnet-4-5' },
} satisfies Record<string, Wording>

const ours = {
  args: [inBench('../bin/turnpike.mjs'), 'start'],
  environment: ({ port, upstreamOrigin, dataDir }: Place) => ({
    PORT: String(port),
    HOST: '127.0.0.1',
    ANTHROPIC_BASE_URL: upstreamOrigin,
    ANTHROPIC_API_KEY: 'x',
    OPENAI_BASE_URL: `${upstreamOrigin}/v1`,
    OPENAI_API_KEY: 'x',
    SVC_DATA_DIR: dataDir,
    LOG_LEVEL: 'info',
  }),
  readyPath: '/health',
  wording: wordings.messages,
  unique: true,
  reachesUpstream: true,
}

/** Relay only, without receipts. */
const relayOnly = {
  ...ours,
  environment: (place: Place) => ({ ...ours.environment(place), SVC_CONFIG: inBench('relay-only.yaml') }),
}

const chatClient = { authorization: 'Bearer bench', 'content-type': 'application/json' }
const client = { ...chatClient, 'anthropic-version': '2023-06-01' }
const withoutModules = { 'x-svc-pipe': 'none' }

/** Direct line to the upstream, the baseline of every added latency. */
export const direct: Target = {
  name: 'direct',
  label: 'direct, no gateway',
  readyPath: '/',
  headers: () => client,
  wording: wordings.messages,
  unique: true,
  reachesUpstream: true,
}

/** Gateways to compare, each in its own process. */
export const targets: readonly Target[] = [
  {
    name: 'bare',
    label: 'bare relay (the reference)',
    args: [inBench('bare.ts')],
    environment: ({ port, upstreamOrigin }) => ({ PORT: String(port), UPSTREAM: upstreamOrigin }),
    readyPath: '/',
    headers: () => client,
    wording: wordings.messages,
    unique: true,
    reachesUpstream: true,
  },
  { ...relayOnly, name: 'none', label: 'ours, relay only', headers: () => ({ ...client, ...withoutModules }) },
  { ...ours, name: 'receipts', label: 'ours, receipts', headers: () => ({ ...client, ...withoutModules }) },
  { ...ours, name: 'default', label: 'ours, default pipeline, receipts', headers: () => client },
  {
    ...ours,
    name: 'guarded',
    label: 'ours, caps on, receipts',
    environment: (place) => ({
      ...ours.environment(place),
      SVC_COST_PER_DAY: '1000000',
      SVC_COST_PER_MONTH: '1000000',
    }),
    headers: () => ({ ...client, 'x-svc-pipe': 'cost-guard' }),
  },
  {
    ...relayOnly,
    name: 'hit',
    label: 'ours, exact-cache hit',
    headers: () => ({ ...client, 'x-svc-pipe': 'exact-cache' }),
    unique: false,
    reachesUpstream: false,
  },
  {
    ...relayOnly,
    name: 'chat',
    label: 'ours, chat to chat',
    headers: () => ({ ...chatClient, ...withoutModules }),
    wording: wordings.chat,
  },
  {
    ...relayOnly,
    name: 'chat-to-messages',
    label: 'ours, chat to Messages',
    headers: () => ({ ...chatClient, ...withoutModules }),
    wording: wordings.chatToMessages,
  },
  {
    ...relayOnly,
    name: 'messages-to-chat',
    label: 'ours, Messages to chat',
    headers: () => ({ ...client, ...withoutModules }),
    wording: wordings.messagesToChat,
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
    wording: wordings.messages,
    unique: true,
    reachesUpstream: true,
  },
]
