import type { EventTranslator } from '../core/reply/event-translator.ts'
import type { BytesReply, StreamReply } from '../core/reply/reply.ts'
import { scanEvents } from '../core/reply/sse.ts'
import type { ClientRequest } from '../core/request/client-request.ts'
import type { ClientDialect } from './client-dialect.ts'

/** Renders the chunks of a stream, which are whole events, in a client's dialect. */
export interface StreamRenderer {
  portion(bytes: Buffer): Buffer | string
  /** Returns the text after the last chunk of a stream that has ended well. */
  end(): string | undefined
}

const AS_IT_IS: StreamRenderer = { portion: (bytes) => bytes, end: () => undefined }

/** Renders a JSON reply in a client's dialect; a reply that is in it already passes unchanged. */
export function renderBytes(reply: BytesReply, dialect: ClientDialect): BytesReply {
  return reply.dialect.name === dialect.name ? reply : dialect.render(reply)
}

/**
 * Creates the renderer of a stream; a stream that is in the client's dialect already passes unchanged. So does any other
 * without `request`: a relayed reply is in no dialect but its provider's.
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
