import { DeliveryFault, SEND_WITHIN_MS } from './channel.ts'

/** Most bytes of a reply that are read. */
const MOST_REPLY_BYTES = 64 * 1024

/**
 * Posts a JSON body. The address is the operator's own, and no redirect leads elsewhere; of the reply only its status counts.
 * Rejects with `DeliveryFault`, without the address, which is a secret with Slack.
 */
export async function postJson(url: string, body: string, headers: Readonly<Record<string, string>>): Promise<void> {
  // Loaded on demand: a gateway without alerts does not need it.
  const { default: got } = await import('got')
  const tooLong = new AbortController()
  const call = got.post(url, {
    body,
    headers: { 'content-type': 'application/json', 'user-agent': 'turnpike', ...headers },
    retry: { limit: 0 },
    timeout: { request: SEND_WITHIN_MS },
    followRedirect: false,
    throwHttpErrors: false,
    responseType: 'buffer',
    signal: tooLong.signal,
  })
  call.on('downloadProgress', ({ transferred }) => {
    if (transferred > MOST_REPLY_BYTES) tooLong.abort()
  })
  const { statusCode } = await call.catch(({ code }: { code?: string }) => {
    throw new DeliveryFault(`no reply: ${code ?? 'unknown'}`)
  })
  if (statusCode < 200 || statusCode >= 300) throw new DeliveryFault(`status ${statusCode}`)
}
