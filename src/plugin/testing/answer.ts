import { BytesReply, type Reply, type StreamReply } from '../../core/reply/reply.ts'
import { scanEvents } from '../../core/reply/sse.ts'
import { storedStreamReply } from '../../core/reply/stored-stream.ts'
import { streamOfMessage } from '../../core/reply/stream-of-message.ts'
import type { ClientRequest } from '../../core/request/client-request.ts'
import { createEventRewriter, type ReplyEvent } from '../../core/rewrite/event-rewriter.ts'
import { eventsOf, textOf } from '../../core/rewrite/held-event.ts'
import type { ClientDialect } from '../../dialects/client-dialect.ts'

const JSON_HEADERS = { 'content-type': 'application/json' }
const STREAM_HEADERS = { 'content-type': 'text/event-stream; charset=utf-8' }

/** The reply of a provider that speaks the client's dialect: a message with this text or these blocks. */
export function replyWith(answer: string | readonly object[], client: ClientRequest, dialect: ClientDialect): Reply {
  const message = Buffer.from(JSON.stringify(messageOf(answer, client.document.model)))
  const isChat = dialect.name === 'chat'
  if (!client.document.stream) {
    const reply = new BytesReply(200, JSON_HEADERS, message)
    return isChat ? dialect.render(reply, client) : reply
  }
  const events = inSmallPieces(streamOfMessage(message))
  const usage = new BytesReply(200, {}, message).usage
  const bytes = isChat ? translated(events, client, dialect) : events
  return storedStreamReply(bytes, STREAM_HEADERS, { usage, dialect: client.dialect })
}

function messageOf(answer: string | readonly object[], model: string): object {
  const content = typeof answer === 'string' ? [{ type: 'text', text: answer }] : answer
  const hasCalls = content.some((block) => 'type' in block && block.type === 'tool_use')
  return {
    id: 'msg_test',
    type: 'message',
    role: 'assistant',
    model,
    content,
    stop_reason: hasCalls ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 20 },
  }
}

/** One event a character: a text that spans events is found wherever it is. */
function inSmallPieces(stream: Buffer): Buffer {
  return createEventRewriter((event): ReplyEvent | ReplyEvent[] => {
    if (event.name !== 'content_block_delta') return event
    const { delta, ...rest } = JSON.parse(event.data)
    const [member, text] = Object.entries(delta).find(([name]) => name === 'text' || name === 'partial_json') ?? []
    if (member === undefined || typeof text !== 'string' || text === '') return event
    return Array.from(text, (character) => ({
      name: event.name,
      data: JSON.stringify({ ...rest, delta: { ...delta, [member]: character } }),
    }))
  }).take(stream)
}

function translated(events: Buffer, client: ClientRequest, dialect: ClientDialect): Buffer {
  const translator = dialect.createTranslator(client)
  let text = ''
  scanEvents(events, (name, source, start, end) => {
    text += translator.event(name, source.toString('utf8', start, end))
  })
  return Buffer.from(text + translator.end())
}

/** A reply as its client has received it. */
export interface ReceivedReply {
  readonly status: number
  /** `complete`, `incomplete` or `cancelled`. */
  readonly outcome: string
  /** All bytes, as text. */
  readonly body: string
  /** All texts that the model has written for its reader, joined. */
  readonly text: string
  /** The arguments of its tool calls, as JSON text. */
  readonly toolInputs: readonly string[]
}

/** Reads a reply to its end. */
export async function received(reply: Reply): Promise<ReceivedReply> {
  const body = reply.kind === 'bytes' ? reply.bytes : await readStream(reply)
  const { outcome } = await reply.ended
  const texts = reply.kind === 'bytes' ? partsOfBytes(reply) : partsOfStream(reply, body)
  const inputs = Map.groupBy(
    texts.filter(({ kind }) => kind === 'input'),
    ({ key }) => key,
  )
  return {
    status: reply.status,
    outcome,
    body: body.toString(),
    text: joined(texts.filter(({ kind }) => kind === 'text')),
    toolInputs: [...inputs.values()].map(joined),
  }
}

interface FoundText {
  readonly kind: string
  readonly key: string
  readonly text: string
}

function joined(texts: readonly FoundText[]): string {
  return texts.map(({ text }) => text).join('')
}

function readStream(reply: StreamReply): Promise<Buffer> {
  const portions: Buffer[] = []
  return new Promise((resolve) => {
    reply.open({
      write: (portion) => portions.push(portion) > 0,
      end: () => resolve(Buffer.concat(portions)),
    })
  })
}

function partsOfBytes({ status, bytes, dialect }: BytesReply): FoundText[] {
  if (status !== 200) return []
  const json = bytes.toString('latin1')
  return (dialect.partsOf?.(json) ?? []).map((part) => ({ ...part, text: textOf(json, part) }))
}

function partsOfStream({ dialect }: StreamReply, bytes: Buffer): FoundText[] {
  const reader = dialect.createPartReader?.()
  return eventsOf(bytes).flatMap(({ name, data }) =>
    data === undefined || reader === undefined
      ? []
      : reader.read(name, data).parts.map((part) => ({ ...part, text: textOf(data, part) })),
  )
}
