import type { FinishedRequest } from '../../core/telemetry/telemetry.ts'
import { CommandError } from '../exit-codes.ts'
import { ask, type RemoteGateway } from '../remote/gateway.ts'

/** Request as the gateway has recorded it: the reply of `/dashboard/api/requests/:id`, in part. */
export interface KnownRequest {
  readonly request: FinishedRequest
  readonly capture: { readonly request: KeptBody; readonly reply: KeptBody } | null
}

interface KeptBody {
  readonly text: string
  readonly isCut: boolean
  readonly totalBytes: number
}

/** Session of the caller: the reply of `/dashboard/api/session`, in part. */
export interface GatewaySession {
  readonly mode: 'local' | 'cloud'
  /** Pipeline of requests that name none. */
  readonly pipeline: string
  readonly has: { readonly capture: boolean }
}

/** Request whose body was kept unchanged. */
export interface PastRequest {
  readonly request: FinishedRequest
  readonly body: string
  /** Reply; `undefined` when it was not kept whole. */
  readonly reply: string | undefined
}

/** Fetches the session. Throws `CommandError`. */
export async function fetchSession(gateway: RemoteGateway): Promise<GatewaySession> {
  const reply = await ask(gateway, '/dashboard/api/session')
  return (await reply.json()) as GatewaySession // safe: the gateway’s own shape
}

/** Fetches a recorded request by its id or its receipt’s. Throws `CommandError`: 66 for an unknown id. */
export async function find(gateway: RemoteGateway, id: string): Promise<KnownRequest> {
  const reply = await ask(gateway, `/dashboard/api/requests/${encodeURIComponent(id)}`)
  return (await reply.json()) as KnownRequest // safe: the gateway’s own shape
}

/**
 * Returns a request that can be sent again. Throws `CommandError` (66) with the reason, and how to keep the next one.
 */
export function assertKept({ request, capture }: KnownRequest, session: GatewaySession): PastRequest {
  if (capture === null) throw new CommandError(66, `The body of ${request.requestId} was not kept. ${whyNot(session)}`)
  const { text, isCut, totalBytes } = capture.request
  if (isCut || text.includes('\uFFFD'))
    throw new CommandError(
      66,
      `The body of ${request.requestId} (${totalBytes} bytes) was not kept whole: bodies are cut after 1 MB.`,
    )
  return { request, body: text, reply: capture.reply.isCut ? undefined : capture.reply.text }
}

function whyNot({ mode, has }: GatewaySession): string {
  if (!has.capture) return 'The gateway keeps none: set `dashboard.capture: true`, and send the request once more.'
  return mode === 'local'
    ? 'The gateway keeps those of its last requests, in memory: raise `dashboard.capture_requests` or `dashboard.capture_memory`. With several processes each keeps its own.'
    : 'In cloud mode an account switches that on, for its own requests: on the dashboard’s page Billing, or with PUT /dashboard/api/capture {"hours":1}.'
}
