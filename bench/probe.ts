import { request } from 'undici'
import { createTemplate, forms, stamp } from './bodies.ts'
import type { Case } from './cases.ts'
import type { Gateway } from './gateway-process.ts'
import { DELTA_COUNT, LAST_WORD } from './upstream-replies.ts'

/** Route on which a gateway returns complete replies for a case, and their length. */
export interface Route {
  path: string
  replyBytes: number
}

/**
 * Sends one request and validates the reply before anything is measured. The peer's streams fall back to its chat
 * route. Throws an Error that describes an incomplete reply.
 */
export async function probe(gateway: Gateway, trafficCase: Case): Promise<Route> {
  const { name, wording } = gateway.target
  const isPeerStream = name.startsWith('peer') && trafficCase.stream
  try {
    return await tryRoute(gateway, trafficCase, forms[wording.dialect].path)
  } catch (error) {
    if (!isPeerStream) throw error
    return await tryRoute(gateway, trafficCase, forms.chat.path)
  }
}

async function tryRoute({ target, origin, headers }: Gateway, trafficCase: Case, path: string): Promise<Route> {
  const { bytes, counterOffset } = createTemplate(trafficCase, target.wording)
  stamp(bytes, counterOffset, 0)
  const { statusCode, body } = await request(origin + path, {
    method: 'POST',
    headers,
    body: bytes,
    headersTimeout: 10_000,
    bodyTimeout: 10_000,
  })
  const text = await body.text()
  const pieces = text.split('\n\n').filter((event) => event.includes('"delta"') && /"(?:output_)?index":0/.test(event))
  const isWhole = text.includes(LAST_WORD) && (!trafficCase.stream || pieces.length >= DELTA_COUNT)
  if (statusCode === 200 && isWhole) return { path, replyBytes: Buffer.byteLength(text) }
  throw new Error(`${path} answered ${statusCode} with ${pieces.length} pieces: ${text.slice(0, 200)}`)
}

/** Returns the number of requests that the upstream has answered since its start. */
export async function upstreamCount(upstreamOrigin: string): Promise<number> {
  const { body } = await request(`${upstreamOrigin}/count`)
  return Number(await body.text())
}
