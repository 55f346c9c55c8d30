import { chatForm } from './chat-form.ts'
import { createTurn, hasTools, paragraph } from './conversation.ts'
import { messagesForm } from './messages-form.ts'
import type { RequestForm } from './request-form.ts'

/** A model request of known size with a place for a number that makes it unlike all others. */
export interface RequestTemplate {
  bytes: Buffer
  counterOffset: number
}

/** The dialect in which a client asks, and the model it asks for. */
export interface Wording {
  dialect: 'messages' | 'chat'
  model: string
}

/** The forms of requests, by dialect. */
export const forms: Record<Wording['dialect'], RequestForm> = { messages: messagesForm, chat: chatForm }

const COUNTER_DIGITS = 12
const COUNTER_PLACE = '#'.repeat(COUNTER_DIGITS)

/** Plain letters, one byte each in JSON, so that the size of a request comes out exact. */
const PADDING = ' Keep the answer short, name the file and the line, and say what could break.'

/** A marker in `metadata` that asks the stand-in upstream to leave its stream open. */
export const HOLD_MARK = 'bench-hold-open'

/** Builds a request of exactly `bodyBytes` (1 KB or more). Larger ones hold tools and their results. */
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

/** A request whose stream the stand-in upstream leaves open after the first event. */
export function createHoldBody(): Buffer {
  const messages = [{ role: 'user', content: paragraph(0) }]
  const request = { model: 'claude-sonnet-4-5', max_tokens: 1024, stream: true, messages }
  return Buffer.from(JSON.stringify({ ...request, metadata: { user_id: HOLD_MARK } }))
}

/** Writes `counter` into a copy of a template's bytes, in place. */
export function stamp(bytes: Buffer, counterOffset: number, counter: number): void {
  bytes.write(String(counter).padStart(COUNTER_DIGITS, '0'), counterOffset, 'latin1')
}
