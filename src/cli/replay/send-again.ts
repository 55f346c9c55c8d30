import { setTimeout as sleep } from 'node:timers/promises'
import type { FinishedRequest } from '../../core/telemetry/telemetry.ts'
import { CommandError } from '../exit-codes.ts'
import { type RemoteGateway, send } from '../remote/gateway.ts'
import { find, type PastRequest } from './past.ts'

const PATHS = { messages: '/v1/messages', chat: '/v1/chat/completions', agent: '/v1/messages' } as const
/** The gateway writes its rows a moment after the reply. */
const TRIES = 40
const PAUSE_MS = 150

/** A request as it goes out. */
export interface Outgoing {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** What came back. */
export interface Replayed {
  readonly status: number
  readonly reply: string
  /** The pipeline that ran. */
  readonly pipeline: string
  /** What the gateway has written down; `undefined` for what it refused at its door. */
  readonly row: FinishedRequest | undefined
}

/** A past request as it would be sent again; `pipeline` unset: the gateway’s own is left to it. */
export function toOutgoing(
  { request, body }: PastRequest,
  { key, pipeline, headers }: { key: string; pipeline: string | undefined; headers: Readonly<Record<string, string>> },
): Outgoing {
  return {
    path: PATHS[request.route],
    headers: {
      'content-type': 'application/json',
      ...headers,
      ...(pipeline !== undefined && { 'x-svc-pipe': pipeline.trim() || 'none' }),
      authorization: `Bearer ${key}`,
    },
    body,
  }
}

/** Sends it, and finds out what the gateway did with it. Throws `CommandError`. */
export async function sendAgain(gateway: RemoteGateway, { path, headers, body }: Outgoing): Promise<Replayed> {
  const reply = await send(gateway, path, { method: 'POST', headers, body })
  const text = await reply.text()
  const receiptId = reply.headers.get('x-svc-receipt')
  return {
    status: reply.status,
    reply: text,
    pipeline: reply.headers.get('x-svc-pipe') ?? '',
    row: receiptId === null ? undefined : await findRow(gateway, receiptId),
  }
}

async function findRow(gateway: RemoteGateway, id: string): Promise<FinishedRequest | undefined> {
  for (let i = 0; i < TRIES; i++) {
    try {
      return (await find(gateway, id)).request
    } catch (error) {
      if (!(error instanceof CommandError) || error.exitCode !== 66) throw error
    }
    await sleep(PAUSE_MS)
  }
  return undefined
}
