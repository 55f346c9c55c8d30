import { parse } from 'yaml'
import { loadConfig } from '../../config/load.ts'
import { withVariables } from '../../config/variables.ts'

/**
 * DESIGN — the configuration that is measured
 *
 * What decides how much work a request is, is the user's: the pipeline and its rails, the plugins and their options,
 * prices, receipts and telemetry. What could reach something of the user's is not: providers and their credentials,
 * databases, Redis, accounts, payments, collectors. Caps are there, so that their work is done, and too high to refuse.
 */
const TAKEN = ['pipeline', 'plugins', 'prices', 'receipts', 'telemetry'] as const
const UNREACHED_USD = 1_000_000

/** What is laid over the user's configuration. */
export interface BenchPlaces {
  readonly upstreamUrl: string
  readonly dataDir: string
  /** Instead of the configured one. */
  readonly pipeline: string | undefined
}

/** The configuration file, as YAML that is JSON, of the gateway that is measured. Throws `ConfigError`. */
export function benchConfig(
  readFile: (file: string) => string,
  env: NodeJS.ProcessEnv,
  { upstreamUrl, dataDir, pipeline }: BenchPlaces,
): string {
  const { file, config } = loadConfig(env)
  // Safe: it could be loaded, so it is a map.
  const raw = (file === undefined ? {} : withVariables(parse(readFile(file)) ?? {}, env)) as Record<string, object>
  const taken = Object.fromEntries(TAKEN.flatMap((section) => (raw[section] ? [[section, raw[section]]] : [])))
  const capped = Object.entries(config.costs).filter(([, cap]) => cap !== undefined)
  return JSON.stringify({
    ...taken,
    mode: 'local',
    data_dir: dataDir,
    log_level: 'info',
    server: { host: '127.0.0.1', port: 0 },
    pipeline: { ...taken.pipeline, default: pipeline ?? config.pipeline.default },
    plugins: { ...taken.plugins, dirs: config.plugins.dirs, watch: false },
    costs: Object.fromEntries(capped.map(([name]) => [name, UNREACHED_USD])),
    prices: { ...taken.prices, ...(config.prices.file !== undefined && { file: config.prices.file }) },
    dashboard: { access: 'off' },
    providers: { demo: 'off', tries: 1, anthropic: { base_url: upstreamUrl, api_key: 'bench' } },
  })
}
