import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import got from 'got'
import { z } from 'turnpike/plugin'
import { explain } from 'turnpike/plugin/commands'
import { EmbedderFault } from '../../embedder.ts'
import { toUnitBytes } from './unit-bytes.ts'

/** Endpoint for embeddings, and its request options. */
export interface EndpointOptions {
  readonly url: string
  readonly shape: 'openai' | 'voyage'
  readonly model: string
  readonly apiKey: string | undefined
  readonly dimensions: number
  /** Set when requests include the length of the vectors. */
  readonly asksDimensions: boolean
  readonly timeoutMs: number
}

/** Requests a text's vector. Rejects with `EmbedderFault`: `embedder-refused` for a fault of the text itself. */
export type AskEndpoint = (text: string) => Promise<Int8Array>

/** Bytes per number: a number as text takes some 20 characters; the rest is its framing. */
const BYTES_OF_NUMBER = 32
const BYTES_OF_FRAME = 16_384
const MOST_SOCKETS = 32
/** Statuses of a rejected text, too long or otherwise invalid; any other is a failure of the endpoint. */
const REFUSALS = new Set([400, 413, 422])

const replySchema = z.object({
  data: z.tuple([z.object({ index: z.literal(0), embedding: z.array(z.number()) })]),
})

/** Creates the function that calls an endpoint over connections that are kept until `close`. */
export function createEndpoint(options: EndpointOptions): { ask: AskEndpoint; close(): void } {
  const { url, apiKey, dimensions, timeoutMs } = options
  const agent = {
    http: new HttpAgent({ keepAlive: true, maxSockets: MOST_SOCKETS }),
    https: new HttpsAgent({ keepAlive: true, maxSockets: MOST_SOCKETS }),
  }
  const client = got.extend({
    agent,
    headers: apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` },
    // A request does not wait for a retry; the circuit breaker schedules trials.
    retry: { limit: 0 },
    timeout: { request: timeoutMs },
    // Unconfigured addresses get neither texts nor the key.
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
    // The error holds the request with its key: only its code is passed on.
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
 * Builds the body: https://platform.openai.com/docs/api-reference/embeddings/create and
 * https://docs.voyageai.com/reference/embeddings-api.
 */
function bodyOf(text: string, { shape, model, dimensions, asksDimensions }: EndpointOptions): object {
  const common = { input: [text], model }
  if (shape === 'openai') return { ...common, encoding_format: 'float', ...(asksDimensions && { dimensions }) }
  return { ...common, output_dtype: 'float', ...(asksDimensions && { output_dimension: dimensions }) }
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
