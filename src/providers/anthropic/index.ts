import { z } from 'zod'
import { MESSAGES_HEADERS } from '../headers.ts'
import { defineProviderKind } from '../kind.ts'
import { address, credentialOptions, fromEnv, keysOf } from '../options.ts'
import { Upstream } from '../upstream.ts'
import { ANTHROPIC_CREDENTIAL, AnthropicProvider } from './provider.ts'

const DEFAULT_URL = 'https://api.anthropic.com'

export const kind = defineProviderKind({
  name: 'anthropic',
  summary: 'Anthropic’s Messages API: `claude-…` models.',
  options: z
    .strictObject({
      base_url: fromEnv(address.default(DEFAULT_URL), 'ANTHROPIC_BASE_URL').describe(
        'Address of the Messages API, without `/v1`. A custom address needs no credential.',
      ),
      ...credentialOptions('ANTHROPIC_API_KEY'),
    })
    .prefault({}),
  create(options, parts) {
    const upstream = new Upstream(
      {
        name: 'anthropic',
        baseUrl: options.base_url,
        keys: keysOf(options),
        form: ANTHROPIC_CREDENTIAL,
        credentialOptional: options.base_url !== DEFAULT_URL,
        headers: MESSAGES_HEADERS,
      },
      parts,
    )
    return [new AnthropicProvider(upstream)]
  },
})
