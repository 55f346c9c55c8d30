import { call } from './api.ts'
import type { RequestDetail } from './request-detail.ts'

const TRIES = 20
const PAUSE_MS = 150

/** What is sent, and through which pipeline. */
export interface Play {
  readonly path: string
  readonly body: string
  readonly pipeline: string
  /** An API key; in local mode any word. */
  readonly credential: string
}

/** What came back. */
export interface Played {
  /** 0: nothing did. */
  readonly status: number
  /** The answer's text, or the whole reply where there is none. */
  readonly text: string
  readonly tookMs: number
  /** The pipeline that ran. */
  readonly ran: string
  readonly receiptId: string
  /** What the gateway knows of it, a moment later. */
  readonly detail: RequestDetail | undefined
}

/** Sends a request as any client would, and finds out what the gateway did with it. Never rejects. */
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

/** The gateway writes its rows a moment after the reply. */
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
  error?: { message?: string }
}

/** The text of an answer of either dialect, or of an error. */
function answerOf(text: string): string {
  try {
    // Safe: each member is looked at as if it were not there.
    const { content, choices, error } = JSON.parse(text) as SomeReply
    if (error?.message !== undefined) return error.message
    const told = content?.flatMap((block) => (block.type === 'text' ? (block.text ?? '') : JSON.stringify(block)))
    return told?.join('\n') ?? choices?.[0]?.message?.content ?? text
  } catch {
    return text
  }
}
