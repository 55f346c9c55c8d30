import { Flow } from './flow.ts'
import { OutlineCollector, type ReplyOutline } from './outline.ts'
import { type BytesReplyOptions, type ReplyHeaders, StreamReply } from './reply.ts'
import { MESSAGES_REPLIES, type ReplyDialect } from './reply-dialect.ts'
import { scanEvents } from './sse.ts'

/** Creates a streamed reply from stored bytes: a replay. */
export function storedStreamReply(bytes: Buffer, headers: ReplyHeaders, options: BytesReplyOptions = {}): StreamReply {
  const { usage, dialect } = options
  const flow = new Flow({
    start() {
      flow.push(bytes)
      flow.end({ outcome: 'complete', usage, outline: new StoredOutline(bytes, dialect ?? MESSAGES_REPLIES) })
    },
    resume() {},
    cancel() {},
  })
  return new StreamReply({ status: 200, headers, isWhole: true, dialect }, flow)
}

/** Outline of stored events, which are scanned on first use. */
class StoredOutline implements ReplyOutline {
  readonly #bytes: Buffer
  readonly #dialect: ReplyDialect
  #read: OutlineCollector | undefined

  constructor(bytes: Buffer, dialect: ReplyDialect) {
    this.#bytes = bytes
    this.#dialect = dialect
  }

  get stopReason(): string | undefined {
    return this.#outline.stopReason
  }

  get tools(): readonly string[] {
    return this.#outline.tools
  }

  get #outline(): OutlineCollector {
    this.#read ??= this.#scan()
    return this.#read
  }

  #scan(): OutlineCollector {
    const outline = new OutlineCollector()
    const { meteredEvents } = this.#dialect
    scanEvents(this.#bytes, (name, source, start, end) => {
      if (!meteredEvents.has(name)) return
      const sign = this.#dialect.readEvent(name, source.toString('utf8', start, end))
      if (sign !== undefined) outline.add(sign)
    })
    return outline
  }
}
