import type { Config } from '../../config/schema.ts'
import { messageOf } from '../../core/errors.ts'
import type { Provider } from '../../core/ports/provider.ts'
import { withProviders } from '../with-providers.ts'
import { advice, type Finding, fault, ok } from './finding.ts'

const PATIENCE_MS = 8000

/** Lists the models of each provider that has a credential, which costs nothing. */
export function checkProviders(config: Config): Promise<Finding[]> {
  return withProviders(config, ({ all }) => {
    const configured = all.filter((provider) => provider.configured)
    if (configured.length > 0) return Promise.all(configured.map(ask))
    const words =
      config.mode === 'local' ? 'clients must send their own, or get the demo models' : 'callers must send their own'
    return [advice(`no provider has a credential: ${words}`, 'Set ANTHROPIC_API_KEY, OPENAI_API_KEY or the like.')]
  })
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
    return ok(`provider \`${provider.name}\` replies and has ${models.length} models`)
  } catch (error) {
    return / answered 40[13] /.test(messageOf(error))
      ? fault(`provider \`${provider.name}\` refuses its credential`, 'Check that the key is complete and not revoked.')
      : fault(
          `provider \`${provider.name}\` cannot be called: ${messageOf(error)}`,
          'Check its `base_url`, HTTPS_PROXY, and that this machine can reach it.',
        )
  }
}
