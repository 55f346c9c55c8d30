import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import got from 'got'
import { explain, z } from 'turnpike/plugin'
import { EmbedderFault } from '../../embedder.ts'
import { toUnitBytes } from './unit-bytes.ts'

/** An endpoint for embeddings, and how it is to be asked. */
export interface EndpointOptions {
  readonly url: string
  readonly shape: 'openai' | 'voyage'
  readonly model: string
  readonly apiKey: string | undefined
  readonly dimensions: number
  /** Whether it is told how long the vectors shall be. */
  readonly asksDimensions: boolean
  readonly timeoutMs: number
}

/** Asks for a text's vector. Rejects with `EmbedderFault`: `embedder-refused` when the text itself was at fault. */
export type AskEndpoint = (text: string) => Promise<Int8Array>

/** A number as text takes some 20 characters; the rest is the frame around them. */
const BYTES_OF_NUMBER = 32
const BYTES_OF_FRAME = 16_384
const MOST_SOCKETS = 32
/** The statuses of a text that is too long or is not liked; any other says that the endpoint is not well. */
const REFUSALS = new Set([400, 413, 422])

const replySchema = z.object({
  data: z.tuple([z.object({ index: z.literal(0), embedding: z.array(z.number()) })]),
})

/** Makes the function that asks an endpoint over connections that are kept until `close`. */
export function createEndpoint(options: EndpointOptions): { ask: AskEndpoint; close(): void } {
  const { url, apiKey, dimensions, timeoutMs } = options
  const agent = {
    http: new HttpAgent({ keepAlive: true, maxSockets: MOST_SOCKETS }),
    https: new HttpsAgent({ keepAlive: true, maxSockets: MOST_SOCKETS }),
  }
  const client = got.extend({
    agent,
    headers: apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` },
    // A request does not wait for a second try, and the breaker says when there is one.
    retry: { limit: 0 },
    timeout: { request: timeoutMs },
    // An address that the operator has not named is given neither texts nor the key.
    followRedirect: false,
    throwHttpErrors: false,
  })
  const mostBytes = dimensions * BYTES_OF_NUMBER + BYTES_OF_FRAME
  async function ask(text: string): Promise<Int8Array> {
    const tooLong = new AbortController()
    const call = client.post(url, { json: bodyOf(text, options), responseType: 'text', signal: tooLong.signal })
    call.on('downloadProgress', ({ transferred }) => {
      if (transferred > mostBytes) tooLong.abort()
    })
    // The error itself holds the request with its key: only its code goes on.
    const { statusCode, body } = await call.catch(({ code }) => {
      throw new EmbedderFault('embedder-fault', `no answer: ${code}`)
    })
    if (REFUSALS.has(statusCode)) throw new EmbedderFault('embedder-refused', `status ${statusCode}`)
    if (statusCode !== 200) throw new EmbedderFault('embedder-fault', `status ${statusCode}`)
    return vectorOf(body, dimensions)
  }
  const close = () => {
    agent.http.destroy()
    agent.https.destroy()
  }
  return { ask, close }
}

/**
 * https://platform.openai.com/docs/api-reference/embeddings/create and
 * https://docs.voyageai.com/reference/embeddings-api.
 */
function bodyOf(text: string, { shape, model, dimensions, asksDimensions }: EndpointOptions): object {
  const asked = { input: [text], model }
  if (shape === 'openai') return { ...asked, encoding_format: 'float', ...(asksDimensions && { dimensions }) }
  return { ...asked, output_dtype: 'float', ...(asksDimensions && { output_dimension: dimensions }) }
}

function vectorOf(body: string, dimensions: number): Int8Array {
  const parsed = replySchema.safeParse(jsonOf(body))
  if (!parsed.success) throw new EmbedderFault('embedder-fault', `no embedding: ${explain(parsed.error)}`)
  const [{ embedding }] = parsed.data.data
  if (embedding.length !== dimensions) {
    throw new EmbedderFault('embedder-fault', `expected ${dimensions} dimensions, got ${embedding.length}`)
  }
  const vector = toUnitBytes(embedding)
  if (vector === undefined) throw new EmbedderFault('embedder-fault', 'the vector is no direction')
  return vector
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
