import { z } from 'zod'
import { bytes, duration } from '../core/units.ts'
import { LONGEST_PIPELINE } from '../pipeline/parse.ts'
import { providerKinds } from '../providers/kinds.ts'
import { address, fromEnv } from '../providers/options.ts'
import { alerts } from './alerts.ts'
import { billing } from './billing.ts'
import { dashboard } from './dashboard.ts'
import { engineAddress } from './engine-address.ts'
import { metrics, receipts, telemetry, tracing } from './kept.ts'
import { keys } from './keys.ts'
import { limits } from './limits.ts'
import { mpp } from './mpp.ts'
import { plans } from './plans.ts'
import { responses } from './responses.ts'
import { server } from './server.ts'
import { sessions } from './sessions.ts'
import { settings } from './settings.ts'
import { signIn } from './sign-in.ts'

/*
 * Every option of the gateway: its type, default, unit and consequence, and the environment variable that overrides it.
 * The reference page and `config/turnpike.yaml` are generated from here; options are documented nowhere else.
 */

/** Metadata of an option's schema besides its type. */
export interface OptionMeta {
  description?: string
  /** Environment variable that overrides the option. */
  env?: string
  /** Excluded from all output and logs. */
  secret?: boolean
  /** Documented elsewhere: a preset's copy of an option that every section of its kind has. */
  repeated?: boolean
}

const clampBounds = z.strictObject({
  min: z.union([z.number(), z.string()]).optional().describe('Smallest value a caller may give.'),
  max: z.union([z.number(), z.string()]).optional().describe('Largest value a caller may give.'),
  one_of: z
    .array(z.union([z.number(), z.string(), z.boolean()]))
    .optional()
    .describe('The only values a caller may give.'),
})

const pipeline = z.strictObject({
  default: fromEnv(z.string().max(LONGEST_PIPELINE).default('exact-cache,cost-guard'), 'SVC_PIPELINE').describe(
    'Pipeline of requests that name none: plugin names separated by commas, outermost first; `none` for no plugins.',
  ),
  locked: z
    .array(z.string())
    .default([])
    .describe(
      'Plugins that always run, with your options; a caller can neither remove, move nor relax them. A plugin that comes first in `pipeline.default` runs before those that a caller names, any other after them. A configured cap locks `cost-guard`.',
    ),
  allowed: z
    .array(z.string())
    .optional()
    .describe('Plugins that callers may name in `x-svc-pipe` or in a key. Unset: all that are installed.'),
  clamps: z
    .record(z.string(), z.record(z.string(), clampBounds))
    .default({})
    .describe(
      'Bounds on option values that callers may set, by plugin and option, e.g. `exact-cache: { ttl: { max: 1h } }`.',
    ),
  off: z
    .array(z.string().min(1).max(100))
    .max(100)
    .default([])
    .describe(
      'Plugins that are switched off for new requests: `default` goes without them, and a request or key that names one is refused. Locked plugins run nevertheless.',
    ),
  step_timeout: duration({ min: '1ms', max: '10m' })
    .prefault('5s')
    .describe(
      'Time limit of a plugin until it calls `next()` or replies; beyond it, its `onError` applies. Waiting that a plugin declares does not count.',
    ),
})

const plugins = z
  .object({
    dirs: fromEnv(z.array(z.string().min(1)).default([]), 'SVC_PLUGINS_DIR').describe(
      'Folders that hold plugin folders, besides the built-in ones. In the environment: separated by `:`.',
    ),
    watch: z
      .boolean()
      .optional()
      .describe('Reload changed plugin folders while running. Unset: on in local mode, off in cloud mode.'),
    setup_timeout: duration({ min: '100ms', max: '10m' })
      .prefault('10s')
      .describe('Time limit of a plugin’s set-up; the error names the plugin.'),
  })
  .catchall(z.record(z.string(), z.unknown()))

const timeouts = z.strictObject({
  connect: duration({ min: '100ms', max: '5m' }).prefault('10s').describe('Time limit for connecting to the provider.'),
  first_byte: duration({ min: '1s', max: '2h' })
    .prefault('15m')
    .describe(
      'Time limit until the provider’s reply headers arrive. Reasoning models reply late: keep it above ten minutes. A JSON reply must be complete within the same time again.',
    ),
  idle: duration({ min: '1s', max: '2h' })
    .prefault('10m')
    .describe('Longest idle time within a reply. Beyond it the reply ends with an error.'),
})

/** Options that apply to all providers. */
const providerSettings = z.strictObject({
  default: z.string().default('anthropic').describe('Provider of models whose name matches no provider.'),
  timeouts: timeouts.prefault({}),
  tries: z
    .int()
    .min(1)
    .max(10)
    .default(3)
    .describe('Most attempts of a call, the first included, when the provider replies 5xx or the connection breaks.'),
  connections: z
    .int()
    .min(1)
    .max(65536)
    .default(1024)
    .describe(
      'Most simultaneous connections to one provider. A caller may take one while it has fewer than three times as many as are free, so one caller alone gets three quarters; further calls wait, and are answered 503 when none is free within `timeouts.first_byte`. While a caller who has none waits, replies of which their readers take nothing for three seconds give way.',
    ),
  reply_limit: bytes({ min: '64KB', max: '1GB' })
    .prefault('64MB')
    .describe('Largest JSON reply accepted from a provider.'),
  forward_headers: z
    .array(z.string().min(1))
    .default([])
    .describe(
      'Further request headers to pass to providers, besides the provider’s own; `*` at the end matches any rest.',
    ),
  shared: fromEnv(z.stringbool().or(z.boolean()).default(false), 'SVC_PROVIDERS_SHARED').describe(
    'Cloud mode: callers that send no key of their own in `x-provider-key` use your credentials.',
  ),
  allow_routes: z
    .array(z.string().startsWith('/v1/'))
    .default([])
    .describe(
      'Provider routes relayed past the pipeline, with everything below them, e.g. `/v1/messages/batches`. They escape caps and receipts.',
    ),
  proxy: fromEnv(address.optional(), 'HTTPS_PROXY', { secret: true }).describe(
    'Outbound proxy for calls to providers; may hold a user and password.',
  ),
  no_proxy: fromEnv(z.string().optional(), 'NO_PROXY').describe(
    'Hosts that are called without the proxy, separated by commas.',
  ),
  default_max_tokens: z
    .int()
    .min(1)
    .default(32_000)
    .describe(
      'Output limit, in tokens, of a chat completion that names none, for providers that require one. Lower it for older models.',
    ),
})

/**
 * Each kind of provider has its own section. The cast keeps the type to what is known here: a section is parsed by its
 * kind's schema and read by that kind alone.
 */
const providers = providerSettings.extend(
  Object.fromEntries(providerKinds.map(({ name, options }) => [name, options])),
) as typeof providerSettings

const models = z
  .record(
    z.string().min(1).max(200),
    z.union([
      z
        .string()
        .min(1)
        .transform((model) => [model]),
      z.array(z.string().min(1)).min(1).max(10),
    ]),
  )
  .default({})
  .describe(
    'Model names and their targets: one model, or several as fallbacks, of which the next is called when one fails (5xx, time-out, rate limit), e.g. `fast: [groq/llama-3.3-70b-versatile, openai/gpt-5-mini]`. A name may be an alias of your own or a model’s.',
  )

const cap = (what: string, env?: string) => {
  const schema = z.coerce.number().min(0).max(1_000_000).optional()
  return (env === undefined ? schema : fromEnv(schema, env)).describe(`${what}, in USD. 0 blocks. Unset: no cap.`)
}

const costs = z.strictObject({
  per_request: cap('The most that one request may cost', 'SVC_COST_PER_REQUEST'),
  per_day: cap('The most that each key may spend in a UTC day', 'SVC_COST_PER_DAY'),
  per_month: cap('The most that each key may spend in a UTC month', 'SVC_COST_PER_MONTH'),
  user_per_day: cap('The most that all keys of a user together may spend in a UTC day'),
  user_per_month: cap('The most that all keys of a user together may spend in a UTC month'),
  instance_per_day: cap('The most that all keys together may spend in a UTC day'),
  instance_per_month: cap('The most that all keys together may spend in a UTC month'),
  per_conversation: cap('The most that each conversation of a key may cost'),
  per_agent: cap('The most that each agent of a run may cost: the main one, and each sub-agent by its name'),
  per_run: cap('The most that a run may cost: a conversation with those of all its sub-agents'),
  turns_per_conversation: z
    .int()
    .min(0)
    .max(1_000_000)
    .optional()
    .describe('The most requests of a conversation that a provider answers. 0 blocks. Unset: no limit.'),
  tokens_per_conversation: z
    .int()
    .min(0)
    .max(1_000_000_000_000)
    .optional()
    .describe('The most input and output tokens of a conversation, as billed. 0 blocks. Unset: no limit.'),
  time_per_conversation: duration({ min: '1m', max: '30d' })
    .optional()
    .describe('The longest time of a conversation, from its first request. Unset: no limit.'),
})

/** Above 0: an unknown price is not free. */
const usdOfUnknown = z.number().min(0.001).max(100_000)

const prices = z.strictObject({
  file: fromEnv(z.string().min(1).optional(), 'SVC_PRICES').describe(
    'File of your own prices, which override the built-in list prices. Unset: `config/prices.yaml`, if it exists; its comments document the format.',
  ),
  ceiling: z
    .strictObject({
      input: usdOfUnknown
        .default(15)
        .describe('USD per million input tokens of a model whose price is not known. Such a cost is marked `ceiling`.'),
      output: usdOfUnknown.default(75).describe('USD per million output tokens of such a model.'),
      web_search: usdOfUnknown
        .default(35)
        .describe('USD per thousand searches of a provider’s own web search whose price is not known.'),
    })
    .prefault({}),
})

/** Schema of the whole configuration. Unknown keys are errors. */
export const configSchema = z.strictObject({
  mode: fromEnv(z.enum(['local', 'cloud']).default('local'), 'SVC_MODE').describe(
    '`local`: any credential is accepted, no accounts. `cloud`: API keys, sessions, billing.',
  ),
  data_dir: fromEnv(z.string().min(1).default('./data'), 'SVC_DATA_DIR').describe(
    'Folder of all files that the gateway writes.',
  ),
  build: fromEnv(z.string().min(1).default('dev'), 'SVC_BUILD').describe(
    'Identifier of the running build, shown by the health probe.',
  ),
  log_level: fromEnv(z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'), 'LOG_LEVEL').describe(
    'Least severe level that is logged. `info` logs one line per request.',
  ),
  database_url: fromEnv(engineAddress(/^postgres(ql)?$/).optional(), 'DATABASE_URL', { secret: true }).describe(
    'PostgreSQL database for caps, receipts and accounts, shared by several instances. Unset: SQLite in `data_dir`, which the processes of one machine can share. Tables are created and migrated at start-up, or by `turnpike migrate`.',
  ),
  database_timeout: fromEnv(duration({ min: '100ms', max: '1m' }).prefault('2s'), 'SVC_DATABASE_TIMEOUT').describe(
    'Time limit of one command of the database. Beyond it, requests that need the database are 503; on PostgreSQL, commands that change the same rows may wait fifteen times as long for each other, at least 30 seconds. Raise it for a database that is far away or on a slow disk.',
  ),
  redis_url: fromEnv(engineAddress(/^rediss?$/, /^\/?\d*$/).optional(), 'REDIS_URL', { secret: true }).describe(
    'Redis or Valkey shared by several instances: caches are then stored there. Unset: bounded memory.',
  ),
  server: server.prefault({}),
  pipeline: pipeline.prefault({}),
  plugins: plugins.prefault({}),
  sessions: sessions.prefault({}),
  settings: settings.prefault({}),
  sign_in: signIn.prefault({}),
  keys: keys.prefault({}),
  plans: plans.prefault({}),
  limits: limits.prefault({}),
  models,
  providers: providers.prefault({}),
  responses: responses.prefault({}),
  costs: costs.prefault({}),
  billing: billing.prefault({}),
  mpp: mpp.prefault({}),
  receipts: receipts.prefault({}),
  telemetry: telemetry.prefault({}),
  metrics: metrics.prefault({}),
  tracing: tracing.prefault({}),
  alerts: alerts.prefault({}),
  dashboard: dashboard.prefault({}),
  prices: prices.prefault({}),
})

/** Parsed configuration: defaults filled in, durations in milliseconds, sizes in bytes. */
export type Config = z.output<typeof configSchema>

/** Keys of `plugins` that are not plugin names. */
export const PLUGIN_SETTINGS = ['dirs', 'watch', 'setup_timeout']
