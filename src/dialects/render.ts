import type { EventTranslator } from '../core/reply/event-translator.ts'
import type { BytesReply, StreamReply } from '../core/reply/reply.ts'
import { scanEvents } from '../core/reply/sse.ts'
import type { ClientRequest } from '../core/request/client-request.ts'
import type { ClientDialect } from './client-dialect.ts'

/** Puts the portions of a stream, which are whole events, into a client's dialect. */
export interface StreamRenderer {
  portion(bytes: Buffer): Buffer | string
  /** What follows the last portion of a stream that has ended well. */
  end(): string | undefined
}

const AS_IT_IS: StreamRenderer = { portion: (bytes) => bytes, end: () => undefined }

/** Puts a JSON reply into a client's dialect; one that is in it already passes as it is. */
export function renderBytes(reply: BytesReply, dialect: ClientDialect): BytesReply {
  return reply.dialect.name === dialect.name ? reply : dialect.render(reply)
}

/**
 * Creates the renderer of a stream; one that is in the client's dialect already passes as it is. Without `request` so does
 * any other: a relayed reply is in no dialect but its provider's.
 */
export function createStreamRenderer(
  reply: StreamReply,
  { dialect, request }: { dialect: ClientDialect; request?: ClientRequest | undefined },
): StreamRenderer {
  if (reply.dialect.name === dialect.name || request === undefined) return AS_IT_IS
  const translator = dialect.createTranslator(request)
  return { portion: (bytes) => translate(bytes, translator), end: () => translator.end() }
}

function translate(portion: Buffer, translator: EventTranslator): string {
  let text = ''
  scanEvents(portion, (name, bytes, start, end) => {
    text += translator.event(name, bytes.toString('utf8', start, end))
  })
  return text
}
