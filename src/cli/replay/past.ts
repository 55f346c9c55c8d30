import type { FinishedRequest } from '../../core/telemetry/telemetry.ts'
import { CommandError } from '../exit-codes.ts'
import { ask, type RemoteGateway } from '../remote/gateway.ts'

/** What the gateway knows of a request: the answer of `/dashboard/api/requests/:id`, as far as it is used here. */
export interface KnownRequest {
  readonly request: FinishedRequest
  readonly capture: { readonly request: KeptBody; readonly reply: KeptBody } | null
}

interface KeptBody {
  readonly text: string
  readonly isCut: boolean
  readonly totalBytes: number
}

/** What a gateway says of itself: the answer of `/dashboard/api/session`. */
export interface GatewayFacts {
  readonly mode: 'local' | 'cloud'
  /** Of requests that name none. */
  readonly pipeline: string
  readonly has: { readonly capture: boolean }
}

/** A request whose body is there as it came. */
export interface PastRequest {
  readonly request: FinishedRequest
  readonly body: string
  /** `undefined` when it was not kept whole. */
  readonly reply: string | undefined
}

/** Asks the gateway what it is. Throws `CommandError`. */
export async function askFacts(gateway: RemoteGateway): Promise<GatewayFacts> {
  const reply = await ask(gateway, '/dashboard/api/session')
  return (await reply.json()) as GatewayFacts // safe: the gateway’s own shape
}

/** What is known of a request, by its id or its receipt’s. Throws `CommandError`: 66 when there is none. */
export async function find(gateway: RemoteGateway, id: string): Promise<KnownRequest> {
  const reply = await ask(gateway, `/dashboard/api/requests/${encodeURIComponent(id)}`)
  return (await reply.json()) as KnownRequest // safe: the gateway’s own shape
}

/** A request that can be sent again. Throws `CommandError` (66) that says why it cannot, and how the next one could. */
export function assertKept({ request, capture }: KnownRequest, facts: GatewayFacts): PastRequest {
  if (capture === null) throw new CommandError(66, `The body of ${request.requestId} was not kept. ${whyNot(facts)}`)
  const { text, isCut, totalBytes } = capture.request
  if (isCut || text.includes('\uFFFD'))
    throw new CommandError(
      66,
      `The body of ${request.requestId} (${totalBytes} bytes) was not kept whole: bodies are cut after 1 MB.`,
    )
  return { request, body: text, reply: capture.reply.isCut ? undefined : capture.reply.text }
}

function whyNot({ mode, has }: GatewayFacts): string {
  if (!has.capture) return 'The gateway keeps none: set `dashboard.capture: true`, and send the request once more.'
  return mode === 'local'
    ? 'The gateway keeps those of its last requests, in memory: raise `dashboard.capture_requests` or `dashboard.capture_memory`. With several processes each keeps its own.'
    : 'In cloud mode an account switches that on, for its own requests: on the dashboard’s page Billing, or with PUT /dashboard/api/capture {"hours":1}.'
}
