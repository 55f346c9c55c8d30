import { duration, z } from 'turnpike/plugin'

const remote = z.strictObject({
  url: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('Address that texts are sent to, such as `https://api.openai.com/v1/embeddings`. Needed for `remote`.'),
  shape: z
    .enum(['openai', 'voyage'])
    .default('openai')
    .describe('Request and reply format of the endpoint: OpenAI’s, which most endpoints have, or Voyage’s.'),
  model: z.string().min(1).optional().describe('Name of the model, as the endpoint knows it. Needed for `remote`.'),
  api_key: z
    .string()
    .min(1)
    .optional()
    .meta({ secret: true })
    .describe(
      'Key for the endpoint, sent as `authorization: Bearer`; best taken from the environment. Unset: no header is sent.',
    ),
  dimensions: z
    .int()
    .min(16)
    .max(4096)
    .default(512)
    .describe('Dimensions of the vectors; each takes one byte of an entry.'),
  ask_dimensions: z
    .boolean()
    .default(true)
    .describe(
      'Whether the request to the endpoint contains `dimensions`. `false` for models that cannot shorten their vectors.',
    ),
})

function removedEmbedderMessage({ input }: { readonly input?: unknown }): string | undefined {
  return input === 'onnx'
    ? 'embedder `onnx` is gone: run the model in a server with an endpoint for embeddings, and use `remote`'
    : undefined
}

/** Options that choose an embedder; operator only. */
export const embedderOptions = {
  embedder: z
    .enum(['lexical', 'remote'], { error: removedEmbedderMessage })
    .default('lexical')
    .describe(
      'Source of the vectors that find similar texts. `lexical`: built in, from words and parts of words. `remote`: an endpoint for embeddings, which receives the last user texts.',
    ),
  embedder_budget: duration({ min: '5ms', max: '4s' })
    .prefault('150ms')
    .describe('How long a request waits for a vector of `remote` before it goes on without one (`embedder-late`).'),
  remote: remote.prefault({}),
}

/** Validated options of an endpoint. */
export type RemoteOptions = z.output<typeof remote>

/** Validated options of the chosen embedder. */
export type EmbedderOptions = z.output<z.ZodObject<typeof embedderOptions>>

/** Returns the path of an option that the chosen embedder requires and lacks. */
export function missingOptionOf({ embedder, remote }: EmbedderOptions): readonly string[] | undefined {
  if (embedder === 'remote' && remote.url === undefined) return ['remote', 'url']
  if (embedder === 'remote' && remote.model === undefined) return ['remote', 'model']
  return undefined
}
