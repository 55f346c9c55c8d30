import type { IncomingHttpHeaders } from 'node:http'
import type { ByteSource, Ending } from '../core/reply/byte-source.ts'
import type { EventTranslator } from '../core/reply/event-translator.ts'
import { type FlowInlet, transformed } from '../core/reply/flow.ts'
import { BytesReply, type ReplyHeaders, StreamReply } from '../core/reply/reply.ts'
import type { ReplyDialect } from '../core/reply/reply-dialect.ts'
import { EventFramer, scanEvents } from '../core/reply/sse.ts'

/** Converts a provider's replies to the pipeline's. `headers` are the relayed ones. */
export interface Wire {
  isStream(headers: IncomingHttpHeaders): boolean
  stream(head: { status: number; headers: ReplyHeaders }, source: ByteSource): StreamReply
  /** Converts a whole body. Throws when a successful reply cannot be read. */
  bytes(status: number, headers: ReplyHeaders, body: Buffer): BytesReply
}

/** Passes bytes unchanged. */
export function verbatimWire(dialect?: ReplyDialect): Wire {
  return {
    isStream: isEventStream,
    stream: (head, source) => new StreamReply({ ...head, dialect }, source),
    bytes: (status, headers, body) => new BytesReply(status, headers, body, { dialect }),
  }
}

/** Translates replies of another shape into the canonical one. */
export interface ReplyTranslation {
  readonly isStream?: (headers: IncomingHttpHeaders) => boolean
  /** Returns a message; `undefined` when the reply is no answer. */
  toMessage(body: Buffer): Buffer | undefined
  toError(status: number, body: Buffer): Buffer
  /** Returns the correct status of an error. */
  readonly statusOfError?: (status: number, body: Buffer) => number
  createTranslator(): EventTranslator
}

/** A wire that translates replies into Messages. */
export function translatedWire(translation: ReplyTranslation): Wire {
  return {
    isStream: translation.isStream ?? isEventStream,
    stream: ({ status, headers }, source) =>
      new StreamReply(
        { status, headers: { ...headers, 'content-type': 'text/event-stream; charset=utf-8' }, isWhole: true },
        translatedSource(source, translation.createTranslator()),
      ),
    bytes(status, headers, body) {
      const translated = status === 200 ? translation.toMessage(body) : translation.toError(status, body)
      if (translated === undefined) throw new Error('the provider answered 200 with something that is no answer')
      const actualStatus = status === 200 ? status : (translation.statusOfError?.(status, body) ?? status)
      return new BytesReply(actualStatus, { ...headers, 'content-type': 'application/json' }, translated)
    },
  }
}

/** Returns true when a reply's headers announce server-sent events. */
function isEventStream(headers: IncomingHttpHeaders): boolean {
  return headers['content-type']?.startsWith('text/event-stream') ?? false
}

/** Translates a source's events: whole events and their ending. */
function translatedSource(source: ByteSource, translator: EventTranslator): ByteSource {
  const framer = new EventFramer()
  let text = ''
  const take = (name: string, bytes: Buffer, start: number, end: number) => {
    text += translator.event(name, bytes.toString('utf8', start, end))
  }
  const flush = (to: FlowInlet) => {
    if (text === '') return
    const portion = Buffer.from(text)
    text = ''
    to.push(portion)
  }
  return transformed(source, {
    data(chunk, to) {
      const portion = framer.push(chunk)
      if (portion === undefined) return
      scanEvents(portion, take)
      flush(to)
    },
    end(to) {
      text += translator.end()
      flush(to)
      to.end(endingOf(translator, new Error('the provider ended the stream before its answer was whole')))
    },
    fail: (error, to) => to.end(endingOf(translator, error)),
  })
}

/** Returns the ending. An error that the provider put into the stream has already reached the client. */
function endingOf({ isComplete, hasFailed, usage }: EventTranslator, error: Error): Ending {
  if (isComplete) return { outcome: 'complete', usage }
  return hasFailed ? { outcome: 'incomplete', usage } : { outcome: 'incomplete', usage, error }
}
