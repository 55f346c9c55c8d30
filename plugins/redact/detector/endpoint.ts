import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import got from 'got'
import { z } from 'turnpike/plugin'
import { DetectorFailure } from './failure.ts'

/** Address of a detector, and its limits. */
export interface EndpointOptions {
  readonly url: string
  readonly apiKey: string | undefined
  readonly timeoutMs: number
}

/** Finds the values to redact in some texts. Rejects with `DetectorFailure`, or the signal's reason. */
export type AskDetector = (texts: readonly string[], signal: AbortSignal) => Promise<readonly string[]>

const MOST_REPLY_BYTES = 1024 * 1024
const MOST_VALUES = 10_000
const LONGEST_VALUE = 10_000
const MOST_SOCKETS = 32
const replySchema = z.object({ values: z.array(z.string().max(LONGEST_VALUE)).max(MOST_VALUES) })

/** Creates the function that calls a detector over connections that are kept until `close`. */
export function createEndpoint({ url, apiKey, timeoutMs }: EndpointOptions): { ask: AskDetector; close(): void } {
  const agent = {
    http: new HttpAgent({ keepAlive: true, maxSockets: MOST_SOCKETS }),
    https: new HttpsAgent({ keepAlive: true, maxSockets: MOST_SOCKETS }),
  }
  const client = got.extend({
    agent,
    headers: apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` },
    retry: { limit: 0 },
    timeout: { request: timeoutMs },
    // Addresses that are not configured get neither texts nor the key.
    followRedirect: false,
    throwHttpErrors: false,
  })
  async function ask(texts: readonly string[], signal: AbortSignal): Promise<readonly string[]> {
    const tooLong = new AbortController()
    const call = client.post(url, {
      json: { texts },
      responseType: 'text',
      signal: AbortSignal.any([signal, tooLong.signal]),
    })
    call.on('downloadProgress', ({ transferred }) => {
      if (transferred > MOST_REPLY_BYTES) tooLong.abort()
    })
    // The error holds the request with its texts and key: only its code is passed on.
    const { statusCode, body } = await call.catch(({ code }) => {
      signal.throwIfAborted()
      throw new DetectorFailure(tooLong.signal.aborted ? 'reply too long' : `no reply: ${code}`)
    })
    if (statusCode !== 200) throw new DetectorFailure(`status ${statusCode}`)
    return valuesOf(body)
  }
  const close = () => {
    agent.http.destroy()
    agent.https.destroy()
  }
  return { ask, close }
}

function valuesOf(body: string): readonly string[] {
  const parsed = replySchema.safeParse(jsonOf(body))
  // The fault of a schema may repeat a value.
  if (!parsed.success) throw new DetectorFailure('reply of another shape')
  return parsed.data.values
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
