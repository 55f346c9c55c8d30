import { performance } from 'node:perf_hooks'
import type { Config } from '../../config/schema.ts'
import { messageOf } from '../../core/errors.ts'
import type { Log } from '../../core/ports/log.ts'
import type { Provider } from '../../core/ports/provider.ts'
import { createProviders } from '../../providers/providers.ts'
import { advice, type Finding, fault, ok } from './finding.ts'

const PATIENCE_MS = 8000
/** What fails is a finding. */
const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {}, child: () => SILENT }

/** Asks each provider that has a credential for its models, which costs nothing. */
export async function checkProviders(config: Config): Promise<Finding[]> {
  const tokens = { inputTokens: () => 1 }
  const nowMs = () => performance.now()
  const providers = await createProviders(config, { log: SILENT, tokens, random: Math.random, nowMs })
  try {
    const configured = providers.all.filter((provider) => provider.configured)
    if (configured.length > 0) return await Promise.all(configured.map(ask))
    const words =
      config.mode === 'local' ? 'clients must send their own, or get the demo models' : 'callers must bring their own'
    return [advice(`no provider has a credential: ${words}`, 'Set ANTHROPIC_API_KEY, OPENAI_API_KEY or the like.')]
  } finally {
    await providers.close()
  }
}

async function ask(provider: Provider): Promise<Finding> {
  try {
    const models = await provider.listModels({
      method: 'GET',
      path: '/v1/models',
      query: '',
      headers: {},
      body: undefined,
      credential: undefined,
      requestId: 'doctor',
      scope: 'doctor',
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
    return ok(`provider \`${provider.name}\` answers and has ${models.length} models`)
  } catch (error) {
    return / answered 40[13] /.test(messageOf(error))
      ? fault(
          `provider \`${provider.name}\` refuses its credential`,
          'Check that the key is whole and was not revoked.',
        )
      : fault(
          `provider \`${provider.name}\` cannot be asked: ${messageOf(error)}`,
          'Check its `base_url`, HTTPS_PROXY, and that this machine reaches it.',
        )
  }
}
