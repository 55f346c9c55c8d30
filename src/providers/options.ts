import { z } from 'zod'

/** Metadata of a section's member: see `config/schema.ts`. */
interface Meta {
  env?: string
  secret?: boolean
}

/** Attaches the environment variable that overrides an option. */
export function fromEnv<Schema extends z.ZodType>(schema: Schema, env: string | undefined, meta: Meta = {}): Schema {
  return schema.meta({ ...schema.meta(), ...(env !== undefined && { env }), ...meta })
}

/** The API of a provider that has OpenAI's chat completions, and perhaps Responses. */
export const api = z
  .enum(['chat', 'responses'])
  .default('chat')
  .describe(
    'The API to call: `chat` (`/chat/completions`) or `responses` (`/responses`), which clients of Responses then reach without translation. Every client reaches either.',
  )

/** A provider's address. It comes from the operator's configuration, never from a caller. */
export const address = z.url({ protocol: /^https?$/, error: 'expected an http(s) address' })

/** Members of a section that hold credentials; `env` is the variable of the single one. */
export function credentialOptions(env: string | undefined) {
  return {
    api_key: fromEnv(z.string().min(1).optional(), env, { secret: true }).describe(
      'Your credential. Unset in local mode: the caller’s own is passed through, if it has the provider’s form.',
    ),
    keys: z
      .array(
        z.strictObject({
          api_key: z.string().min(1).describe('The credential.'),
          weight: z.int().min(1).max(1000).default(1).describe('Share of the traffic, relative to the other weights.'),
        }),
      )
      .max(100)
      .default([])
      .meta({ secret: true })
      .describe(
        'Several credentials that share the traffic by weight, instead of `api_key`. A conversation stays with one, which keeps the provider’s prompt cache warm; one that returns 401 or 429 goes into cool-down.',
      ),
  }
}

/** Returns the credentials of a section, from either member. */
export function keysOf({
  api_key,
  keys,
}: {
  api_key?: string | undefined
  keys: readonly WeightedKey[]
}): WeightedKey[] {
  return api_key === undefined ? [...keys] : [{ api_key, weight: 1 }, ...keys]
}

/** One of several credentials. */
export interface WeightedKey {
  readonly api_key: string
  readonly weight: number
}
