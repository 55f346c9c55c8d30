import type { EventTranslator } from '../core/reply/event-translator.ts'
import type { BytesReply, StreamReply } from '../core/reply/reply.ts'
import { scanEvents } from '../core/reply/sse.ts'
import type { ClientRequest } from '../core/request/client-request.ts'
import type { ClientDialect } from './client-dialect.ts'

/** The beginning of a comment, and what a portion of comments alone lacks. */
const COLON = 0x3a
const DATA = 'data:'

/** Renders the chunks of a stream, which are whole events, in a client's dialect. */
export interface StreamRenderer {
  portion(bytes: Buffer): Buffer | string
  /** Returns the text after the last chunk of a stream that has ended well. */
  end(): string | undefined
  /** Returns the text after the last chunk of a stream that has broken off. */
  breakOff(message: string): string
}

/** The client of a reply. */
interface Client {
  readonly dialect: ClientDialect
  /** Its request; unset where the reply is in no dialect but its provider's. */
  readonly request?: ClientRequest | undefined
}

/** Renders a JSON reply in a client's dialect; a reply that is in it already, or is relayed, passes unchanged. */
export function renderBytes(reply: BytesReply, { dialect, request }: Client): BytesReply {
  return reply.dialect.name === dialect.name || request === undefined ? reply : dialect.render(reply, request)
}

/** Creates the renderer of a stream; a stream that is in the client's dialect already, or is relayed, passes unchanged. */
export function createStreamRenderer(reply: StreamReply, { dialect, request }: Client): StreamRenderer {
  if (reply.dialect.name === dialect.name || request === undefined) return unchanged({ dialect, request })
  const translator = dialect.createTranslator(request)
  return {
    portion: (bytes) => translate(bytes, translator),
    end: () => translator.end(),
    breakOff: (message) => translator.event('error', messagesError(message)),
  }
}

function unchanged({ dialect, request }: Client): StreamRenderer {
  let first: Buffer | undefined
  let last: Buffer | undefined
  return {
    portion(bytes) {
      if (bytes[0] !== COLON || bytes.includes(DATA)) {
        first ??= bytes
        last = bytes
      }
      return bytes
    },
    end: () => undefined,
    breakOff: (message) => dialect.breakEvent(message, { first, last, request }),
  }
}

/** Returns the data of the event with which a canonical stream breaks off. */
export function messagesError(message: string): string {
  return JSON.stringify({ type: 'error', error: { type: 'api_error', message } })
}

function translate(portion: Buffer, translator: EventTranslator): string {
  let text = ''
  scanEvents(portion, (name, bytes, start, end) => {
    text += translator.event(name, bytes.toString('utf8', start, end))
  })
  return text
}
