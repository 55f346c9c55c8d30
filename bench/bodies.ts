import { chatForm } from './chat-form.ts'
import { createTurn, hasTools, paragraph } from './conversation.ts'
import { messagesForm } from './messages-form.ts'
import type { RequestForm } from './request-form.ts'
import { responsesForm } from './responses-form.ts'

/** Model request of known size with a place for a unique number. */
export interface RequestTemplate {
  bytes: Buffer
  counterOffset: number
}

/** Dialect of a client, and the requested model. */
export interface Wording {
  dialect: 'messages' | 'chat' | 'responses'
  model: string
}

/** Request forms by dialect. */
export const forms: Record<Wording['dialect'], RequestForm> = {
  messages: messagesForm,
  chat: chatForm,
  responses: responsesForm,
}

const COUNTER_DIGITS = 12
const COUNTER_PLACE = '#'.repeat(COUNTER_DIGITS)

/** Plain letters, one byte each in JSON, so that the size of a request is exact. */
const PADDING = ' Keep the answer short, name the file and the line, and say what could break.'

/** Marker in `metadata` that makes the stand-in upstream leave its stream open. */
export const HOLD_MARK = 'bench-hold-open'

/** Builds a request of exactly `bodyBytes` (1 KB or more). Larger ones contain tools and their results. */
export function createTemplate(
  { bodyBytes, stream }: { bodyBytes: number; stream: boolean },
  { dialect, model }: Wording,
): RequestTemplate {
  const form = forms[dialect]
  const head = { model, stream, hasTools: hasTools(bodyBytes) }
  const messages: object[] = []
  const question = { role: 'user', content: `Ticket ${COUNTER_PLACE}: what would you change first?` }
  const textWith = (turn: object[]) => JSON.stringify(form.toRequest(head, [...messages, ...turn, question]))
  const spaceLeft = (turn: object[]) => bodyBytes - Buffer.byteLength(textWith(turn))
  for (let index = 0; ; index++) {
    const turn = form.toMessages(createTurn(index, bodyBytes))
    if (spaceLeft(turn) < 0) break
    messages.push(...turn)
  }
  question.content += PADDING.repeat(bodyBytes / PADDING.length).slice(0, spaceLeft([]))
  const bytes = Buffer.from(textWith([]))
  return { bytes, counterOffset: bytes.indexOf(COUNTER_PLACE) }
}

/** Builds a request whose stream the stand-in upstream leaves open after the first event. */
export function createHoldBody(): Buffer {
  const messages = [{ role: 'user', content: paragraph(0) }]
  const request = { model: 'claude-sonnet-4-5', max_tokens: 1024, stream: true, messages }
  return Buffer.from(JSON.stringify({ ...request, metadata: { user_id: HOLD_MARK } }))
}

/** Writes `counter` into a copy of a template's bytes, in place. */
export function stamp(bytes: Buffer, counterOffset: number, counter: number): void {
  bytes.write(String(counter).padStart(COUNTER_DIGITS, '0'), counterOffset, 'latin1')
}
