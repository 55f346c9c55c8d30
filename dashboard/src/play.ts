import { call } from './api.ts'
import type { RequestDetail } from './request-detail.ts'

const TRIES = 20
const PAUSE_MS = 150

/** Request to send, and its pipeline. */
export interface Play {
  readonly path: string
  readonly body: string
  readonly pipeline: string
  /** API key; in local mode any word. */
  readonly credential: string
}

/** Reply of a sent request. */
export interface Played {
  /** Status; 0 without a reply. */
  readonly status: number
  /** Text of the reply, or the whole reply where it has none. */
  readonly text: string
  readonly tookMs: number
  /** Pipeline that ran. */
  readonly ran: string
  readonly receiptId: string
  /** Record of the gateway, available shortly after the reply. */
  readonly detail: RequestDetail | undefined
}

/** Sends a request as a client would, and reads the gateway's record of it. Never rejects. */
export async function play({ path, body, pipeline, credential }: Play): Promise<Played> {
  const startedAtMs = performance.now()
  try {
    const reply = await fetch(path, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${credential}`,
        'x-svc-pipe': pipeline.trim() || 'none',
      },
      body,
    })
    const text = await reply.text()
    const tookMs = performance.now() - startedAtMs
    const receiptId = reply.headers.get('x-svc-receipt') ?? ''
    return {
      status: reply.status,
      text: answerOf(text),
      tookMs,
      ran: reply.headers.get('x-svc-pipe') ?? '',
      receiptId,
      detail: receiptId === '' ? undefined : await findDetail(receiptId),
    }
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error)
    return { status: 0, text, tookMs: performance.now() - startedAtMs, ran: '', receiptId: '', detail: undefined }
  }
}

/** Polls for the record: the gateway writes it shortly after the reply. */
async function findDetail(id: string): Promise<RequestDetail | undefined> {
  for (let i = 0; i < TRIES; i++) {
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    const found = await call<RequestDetail>(`/dashboard/api/requests/${id}`).catch(() => undefined)
    if (found !== undefined) return found
  }
  return undefined
}

interface SomeReply {
  content?: { type?: string; text?: string }[]
  choices?: { message?: { content?: string } }[]
  output?: { content?: { text?: string }[] }[]
  error?: { message?: string }
}

/** Returns the text of a reply of any dialect, or of an error. */
function answerOf(text: string): string {
  try {
    // Safe: each member is checked before use.
    const { content, choices, output, error } = JSON.parse(text) as SomeReply
    if (error?.message !== undefined) return error.message
    const texts = content?.flatMap((block) => (block.type === 'text' ? (block.text ?? '') : JSON.stringify(block)))
    const parts = output?.flatMap((item) => item.content?.map(({ text = '' }) => text) ?? JSON.stringify(item))
    return (texts ?? parts)?.join('\n') ?? choices?.[0]?.message?.content ?? text
  } catch {
    return text
  }
}
