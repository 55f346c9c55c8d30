import { setTimeout as sleep } from 'node:timers/promises'
import type { FinishedRequest } from '../../core/telemetry/telemetry.ts'
import { CommandError } from '../exit-codes.ts'
import { type RemoteGateway, send } from '../remote/gateway.ts'
import { find, type PastRequest } from './past.ts'

const PATHS = {
  messages: '/v1/messages',
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  agent: '/v1/messages',
} as const
/** Attempts to read the row, which the gateway writes shortly after the reply. */
const TRIES = 40
const PAUSE_MS = 150

/** Request to send. */
export interface Outgoing {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Reply to the replayed request. */
export interface Replayed {
  readonly status: number
  readonly reply: string
  /** Pipeline that ran. */
  readonly pipeline: string
  /** Row that the gateway has recorded; `undefined` for a request that it refused before the pipeline. */
  readonly row: FinishedRequest | undefined
}

/** Builds the request to send from a past one; without `pipeline`, the gateway's default applies. */
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

/** Sends the request, and reads the row that the gateway records of it. Throws `CommandError`. */
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
