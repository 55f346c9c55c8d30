import type { Config } from '../config/schema.ts'
import type { Log } from '../core/ports/log.ts'
import { createProviders } from '../providers/create.ts'
import type { Providers } from '../providers/providers.ts'

const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {}, child: () => SILENT }

/** Makes the configuration's providers for a command, which sends them no prompt. */
export async function withProviders<Result>(
  config: Config,
  work: (providers: Providers) => Result | Promise<Result>,
): Promise<Result> {
  const providers = await createProviders(config, {
    log: SILENT,
    tokens: { inputTokens: () => 1 }, // no request is made, so that none is counted
    random: Math.random,
    nowMs: () => performance.now(),
  })
  try {
    return await work(providers)
  } finally {
    await providers.close()
  }
}
