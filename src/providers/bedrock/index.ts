import { z } from 'zod'
import { CLIENT_BETAS } from '../claude/betas.ts'
import { MADE_FOR_EACH_REQUEST } from '../claude/hosted-provider.ts'
import { PLAIN_HEADERS } from '../headers.ts'
import { defineProviderKind, type ProviderParts } from '../kind.ts'
import { address, fromEnv } from '../options.ts'
import { Upstream } from '../upstream.ts'
import {
  type Authorization,
  bearerAuthorization,
  chainedKeys,
  fixedKeys,
  type KeySource,
  signedAuthorization,
} from './authorization.ts'
import { loadFrameCodec } from './frames.ts'
import { BedrockProvider } from './provider.ts'
import { bedrockWire } from './wire.ts'

const secret = (env: string) => fromEnv(z.string().min(1).optional(), env, { secret: true })

const options = z
  .strictObject({
    region: fromEnv(
      z
        .string()
        .regex(/^[a-z0-9-]+$/, 'expected a region such as `eu-central-1`')
        .optional(),
      'BEDROCK_REGION',
    ).describe('The AWS region whose models are called. Unset: this provider is off.'),
    base_url: fromEnv(address.optional(), 'BEDROCK_BASE_URL').describe(
      'Address of the Bedrock runtime, for private endpoints. Unset: `https://bedrock-runtime.<region>.amazonaws.com`.',
    ),
    api_key: secret('AWS_BEARER_TOKEN_BEDROCK').describe(
      'A Bedrock API key. It takes precedence over all other credentials.',
    ),
    access_key_id: secret('AWS_ACCESS_KEY_ID').describe(
      'An access key to sign with, together with `secret_access_key`. Unset: the AWS credential chain is used, from profiles to the machine’s role.',
    ),
    secret_access_key: secret('AWS_SECRET_ACCESS_KEY').describe('The secret of the access key.'),
    session_token: secret('AWS_SESSION_TOKEN').describe('The token that goes with temporary keys.'),
    profile: fromEnv(z.string().min(1).optional(), 'AWS_PROFILE').describe(
      'A profile of your AWS configuration files, for the credential chain.',
    ),
    models: z
      .array(z.string().min(1))
      .default([])
      .describe('Models to show in model lists, since the runtime has no list. Other models can be requested too.'),
    left_out_betas: z
      .array(z.string().min(1))
      .default(CLIENT_BETAS)
      .describe(
        'Betas that are not forwarded; `*` at the end matches any rest. Bedrock refuses requests with a beta that the model does not support there.',
      ),
  })
  .refine(
    ({ region, base_url, api_key }) => base_url === undefined || region !== undefined || api_key !== undefined,
    'expected `region` beside `base_url`: signatures name it',
  )
  .prefault({})

type Options = z.output<typeof options>

/** The kind of provider. */
export const kind = defineProviderKind({
  name: 'bedrock',
  summary: 'Claude on Amazon Bedrock: `bedrock/<model or inference profile>`.',
  settings: { bedrock: 'BEDROCK_REGION' },
  options,
  async create(section, parts) {
    const { region, base_url, models, left_out_betas } = section
    if (region === undefined && base_url === undefined) return []
    const baseUrl = base_url ?? `https://bedrock-runtime.${region}.amazonaws.com`
    const upstream = new Upstream(
      {
        name: 'bedrock',
        baseUrl,
        keys: [],
        form: MADE_FOR_EACH_REQUEST,
        credentialOptional: true,
        isSigned: true,
        headers: PLAIN_HEADERS,
      },
      parts,
    )
    return [
      new BedrockProvider({
        upstream,
        authorization: await authorizationOf(section, baseUrl, parts),
        wire: bedrockWire(await loadFrameCodec()),
        basePath: new URL(baseUrl).pathname.replace(/\/$/, ''),
        models,
        leftOutBetas: left_out_betas,
        nowMs: parts.nowMs,
      }),
    ]
  },
})

async function authorizationOf(section: Options, baseUrl: string, parts: ProviderParts): Promise<Authorization> {
  const { api_key, region } = section
  if (api_key !== undefined) return bearerAuthorization(api_key)
  if (region === undefined) throw new Error('the schema requires a region where requests are signed')
  return signedAuthorization({ region, host: new URL(baseUrl).host }, await keysOf(section, region, parts))
}

async function keysOf(section: Options, region: string, { log }: ProviderParts): Promise<KeySource> {
  const {
    access_key_id: accessKeyId,
    secret_access_key: secretAccessKey,
    session_token: sessionToken,
    profile,
  } = section
  if (accessKeyId !== undefined && secretAccessKey !== undefined)
    return fixedKeys({ accessKeyId, secretAccessKey, sessionToken })
  return chainedKeys({ provider: 'bedrock', log, region, profile })
}
