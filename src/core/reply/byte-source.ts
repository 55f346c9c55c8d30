import type { ReplyOutline } from './outline.ts'
import type { Usage } from './usage.ts'

/**
 * Ending of a reply. `complete`: a whole reply. `incomplete`: an error, a cut, or a stream without `message_stop`.
 * `cancelled`: the client disconnected, or the rest was not needed.
 */
export interface Ending {
  readonly outcome: 'complete' | 'incomplete' | 'cancelled'
  readonly usage: Usage | undefined
  readonly outline?: ReplyOutline | undefined
  readonly error?: Error
}

/** Source of a streamed reply's bytes. After `cancel` neither `end` nor `fail` need be called. */
export interface ByteSource {
  start(sink: ByteSourceSink): void
  pause(): void
  resume(): void
  cancel(): void
}

/**
 * Receiver of a source's calls: any number of `data`, then exactly one of `end` and `fail`.
 * A source that passes on another stream's portions passes its ending on, too.
 */
export interface ByteSourceSink {
  data(chunk: Buffer): void
  end(ending?: Ending): void
  fail(error: Error): void
}

/** Receiver of a streamed reply. `write` returns false when the stream should pause until `resume()`. */
export interface ReplySink {
  write(portion: Buffer): boolean
  end(ending: Ending): void
}
