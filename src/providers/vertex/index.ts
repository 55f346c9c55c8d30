import { z } from 'zod'
import { CLIENT_BETAS } from '../claude/betas.ts'
import { MADE_FOR_EACH_REQUEST } from '../claude/hosted-provider.ts'
import { PLAIN_HEADERS } from '../headers.ts'
import { defineProviderKind } from '../kind.ts'
import { address, fromEnv } from '../options.ts'
import { Upstream } from '../upstream.ts'
import { addressOf } from './address.ts'
import { googleAuthorization, tokenAuthorization } from './credentials.ts'
import { VertexProvider } from './provider.ts'

/** The kind of provider. */
export const kind = defineProviderKind({
  name: 'vertex',
  summary: 'Claude on Google Cloud’s Vertex AI: `vertex/<model>`.',
  settings: { vertex: 'VERTEX_PROJECT' },
  options: z
    .strictObject({
      project: fromEnv(z.string().min(1).optional(), 'VERTEX_PROJECT').describe(
        'The Google Cloud project that calls and pays. Unset: this provider is off.',
      ),
      location: fromEnv(
        z
          .string()
          .regex(/^[a-z0-9-]+$/, 'expected a location such as `europe-west1`')
          .default('global'),
        'VERTEX_LOCATION',
      ).describe('Location of the models: a region, `us`, `eu`, or `global`.'),
      base_url: fromEnv(address.optional(), 'VERTEX_BASE_URL').describe(
        'Address of Vertex AI, without `/v1`, for private endpoints. Unset: the address of the location.',
      ),
      access_token: fromEnv(z.string().min(1).optional(), 'VERTEX_ACCESS_TOKEN', { secret: true }).describe(
        'A token that you created yourself; it expires within hours and is not renewed. For short uses.',
      ),
      credentials_file: z
        .string()
        .min(1)
        .optional()
        .describe(
          'Credentials file: a service account’s key, or a workload identity’s description. Unset: Google’s application default credentials.',
        ),
      models: z
        .array(z.string().min(1))
        .default([])
        .describe('Models to show in model lists, since Vertex AI has no list. Other models can be requested too.'),
      left_out_betas: z
        .array(z.string().min(1))
        .default(CLIENT_BETAS)
        .describe(
          'Betas that are not forwarded; `*` at the end matches any rest. Vertex AI refuses requests with a beta that it does not support.',
        ),
    })
    .prefault({}),
  async create({ project, location, access_token, credentials_file, ...options }, parts) {
    if (project === undefined) return []
    const { proxy, no_proxy: noProxy } = parts.settings
    const authorization =
      access_token === undefined
        ? await googleAuthorization({ credentialsFile: credentials_file, proxy, noProxy, log: parts.log })
        : tokenAuthorization(access_token)
    const baseUrl = options.base_url ?? addressOf(location)
    const upstream = new Upstream(
      {
        name: 'vertex',
        baseUrl,
        keys: [],
        form: MADE_FOR_EACH_REQUEST,
        credentialOptional: true,
        isSigned: true,
        headers: PLAIN_HEADERS,
      },
      parts,
    )
    const { models, left_out_betas: leftOutBetas } = options
    return [new VertexProvider({ upstream, authorization, project, location, models, leftOutBetas })]
  },
})
