import type { Usage } from './usage.ts'

/**
 * How a reply ended. `complete`: a whole answer. `incomplete`: an error, a cut, or a stream without `message_stop`.
 * `cancelled`: nobody wanted the rest.
 */
export interface Ending {
  readonly outcome: 'complete' | 'incomplete' | 'cancelled'
  readonly usage: Usage | undefined
  readonly error?: Error
}

/** Where a streamed reply's bytes come from. After `cancel` neither `end` nor `fail` need be called. */
export interface ByteSource {
  start(sink: ByteSourceSink): void
  pause(): void
  resume(): void
  cancel(): void
}

/**
 * What a source calls: any number of `data`, then exactly one of `end` and `fail`.
 * A source of another stream's portions hands that stream's ending on.
 */
export interface ByteSourceSink {
  data(chunk: Buffer): void
  end(ending?: Ending): void
  fail(error: Error): void
}

/** What receives a streamed reply. `write` returns false when the stream should pause until `resume()`. */
export interface ReplySink {
  write(portion: Buffer): boolean
  end(ending: Ending): void
}
