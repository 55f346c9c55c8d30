import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CLOUD, createKey } from '../test/support/accounts.ts'
import type { Wording } from './bodies.ts'

/** Parameters of a gateway's process. */
export interface Place {
  port: number
  upstreamOrigin: string
  /** Empty folder for its data. */
  dataDir: string
  /** Servers of cloud mode, for targets that use them. */
  cloud?: { readonly databaseUrl: string; readonly redisUrl: string }
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
  /** Set when it needs PostgreSQL and Redis. */
  usesCloud?: boolean
  /** Returns headers that only the running gateway can give, such as a key. */
  signUp?: (origin: string) => Promise<Record<string, string>>
  /** Path of a stream that is read during the whole run: the gateway's own log. */
  watchedPath?: string
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
  responses: { dialect: 'responses', model: 'gpt-4.1' },
  responsesToMessages: { dialect: 'responses', model: 'claude-sonnet-4-5' },
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

/** Caps that are never reached. */
const caps = { SVC_COST_PER_DAY: '1000000', SVC_COST_PER_MONTH: '1000000' }

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

/** Portkey's gateway, with a provider's address. */
const peer = {
  args: [
    `--import=${inBench('peer/loopback.ts')}`,
    inBench('peer/node_modules/@portkey-ai/gateway/build/start-server.js'),
  ],
  readyPath: '/',
  headers: ({ upstreamOrigin }: Place) => ({
    ...client,
    'x-portkey-provider': 'anthropic',
    // The peer appends `/messages`.
    'x-portkey-custom-host': `${upstreamOrigin}/v1`,
  }),
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
  { ...ours, name: 'default', label: 'ours, everything on', headers: () => client },
  {
    ...ours,
    name: 'caps',
    label: 'ours, everything on, caps by day and month',
    environment: (place) => ({ ...ours.environment(place), ...caps }),
    headers: () => client,
  },
  {
    ...ours,
    name: 'cloud',
    label: 'ours, cloud mode: key, plan, caps, PostgreSQL, Redis',
    usesCloud: true,
    environment: (place) => ({ ...ours.environment(place), ...caps, ...cloudEnvironment(place) }),
    headers: () => chatClient,
    signUp: async (origin) => {
      const { key } = await createKey({ url: origin }, 'bench')
      return { authorization: `Bearer ${key}` }
    },
  },
  {
    ...ours,
    name: 'hit',
    label: 'ours, exact-cache hit, with its receipt',
    headers: () => client,
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
    ...relayOnly,
    name: 'responses',
    label: 'ours, Responses to Responses',
    environment: (place) => ({ ...ours.environment(place), SVC_CONFIG: inBench('relay-responses.yaml') }),
    headers: () => ({ ...chatClient, ...withoutModules }),
    wording: wordings.responses,
  },
  {
    ...relayOnly,
    name: 'responses-to-messages',
    label: 'ours, Responses to Messages',
    headers: () => ({ ...chatClient, ...withoutModules }),
    wording: wordings.responsesToMessages,
  },
  {
    ...peer,
    name: 'peer',
    label: 'peer: Portkey 1.15.2',
    args: [...peer.args, '--headless'],
    environment: ({ port }) => ({ BENCH_PEER_PORT: String(port) }),
  },
  {
    ...peer,
    name: 'peer-log',
    label: 'peer: Portkey 1.15.2, its log on and read',
    // Its log exists outside of production only, and costs something only while it is read.
    environment: ({ port }) => ({ BENCH_PEER_PORT: String(port), NODE_ENV: 'development' }),
    watchedPath: '/log/stream',
  },
]

/** Returns the environment of cloud mode with a plan. Throws when its servers are missing. */
function cloudEnvironment({ cloud, dataDir }: Place): Record<string, string> {
  if (cloud === undefined) throw new Error('Expected PostgreSQL and Redis to run.')
  const config = join(dataDir, 'turnpike.yaml')
  writeFileSync(config, JSON.stringify({ plans: { free: { included_calls: 1e9 } } })) // JSON is YAML
  return {
    ...CLOUD,
    SVC_CONFIG: config,
    SVC_RATE_LIMIT: '1000000',
    DATABASE_URL: cloud.databaseUrl,
    REDIS_URL: cloud.redisUrl,
  }
}
