import { z } from 'zod'
import { PLAIN_HEADERS } from '../headers.ts'
import { defineProviderKind } from '../kind.ts'
import { address, credentialOptions, fromEnv, keysOf } from '../options.ts'
import { Upstream } from '../upstream.ts'
import { GEMINI_CREDENTIAL, GeminiProvider } from './provider.ts'

const DEFAULT_URL = 'https://generativelanguage.googleapis.com'

export const kind = defineProviderKind({
  name: 'gemini',
  summary: 'Google’s Gemini API: `gemini-…` models.',
  options: z
    .strictObject({
      base_url: fromEnv(address.default(DEFAULT_URL), 'GEMINI_BASE_URL').describe(
        'Address of the API, without `/v1beta`. A custom address needs no credential.',
      ),
      ...credentialOptions('GEMINI_API_KEY'),
    })
    .prefault({}),
  create(options, parts) {
    const upstream = new Upstream(
      {
        name: 'gemini',
        baseUrl: options.base_url,
        keys: keysOf(options),
        form: GEMINI_CREDENTIAL,
        credentialOptional: options.base_url !== DEFAULT_URL,
        headers: PLAIN_HEADERS,
      },
      parts,
    )
    return [new GeminiProvider(upstream)]
  },
})
