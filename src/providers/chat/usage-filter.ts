import type { ByteSource } from '../../core/reply/byte-source.ts'
import { type FlowInlet, transformed } from '../../core/reply/flow.ts'
import { EventFramer, scanEvents } from '../../core/reply/sse.ts'
import { mergeUsage, type Usage } from '../../core/reply/usage.ts'
import { CHAT_REPLIES } from '../../dialects/chat/replies.ts'

const EMPTY_CHOICES = /"choices"\s*:\s*\[\s*\]/
const LF = 0x0a
const CR = 0x0d

/**
 * Removes the usage chunk from a chat stream whose client did not request it. The usage is read here and returned with the
 * ending; every other byte passes unchanged.
 */
export function withoutUsageChunk(source: ByteSource): ByteSource {
  const framer = new EventFramer()
  let usage: Usage | undefined
  let isCutLineEnd = false
  let kind: 'open' | 'finished' | 'stopped' | 'failed' = 'open'
  const read = (portion: Buffer): Buffer => {
    let kept = portion
    scanEvents(portion, (name, bytes, start, end) => {
      const data = bytes.toString('utf8', start, end)
      const sign = CHAT_REPLIES.readEvent(name, data)
      if (sign === undefined) return
      if (sign.usage !== undefined) usage = mergeUsage(usage, sign.usage)
      kind = nextKind(kind, sign.kind)
      if (sign.usage !== undefined && bytes === portion && EMPTY_CHOICES.test(data))
        kept = without(kept, portion.length - kept.length, { start, end })
    })
    return kept
  }
  const finish = (to: FlowInlet, error: Error) => {
    if (kind === 'stopped') to.end({ outcome: 'complete', usage })
    else to.end(kind === 'failed' ? { outcome: 'incomplete', usage } : { outcome: 'incomplete', usage, error })
  }
  return transformed(source, {
    data(chunk, to) {
      const portion = framer.push(chunk)
      if (portion === undefined) return
      const kept = read(isCutLineEnd && portion[0] === LF ? portion.subarray(1) : portion)
      // The CR and LF of one line end may arrive in two chunks: the LF belongs to the removed event.
      isCutLineEnd = portion.at(-1) === CR && kept.at(-1) !== CR
      if (kept.length > 0) to.push(kept)
    },
    end(to) {
      if (kind === 'finished') kind = 'stopped'
      finish(to, new Error('the provider ended the stream before its answer was whole'))
    },
    fail: (error, to) => finish(to, error),
  })
}

type Kind = 'open' | 'finished' | 'stopped' | 'failed'

function nextKind(kind: Kind, sign: 'stop' | 'finish' | 'error' | 'usage'): Kind {
  if (sign === 'error' || kind === 'failed') return 'failed'
  if (sign === 'stop') return 'stopped'
  return sign === 'finish' && kind === 'open' ? 'finished' : kind
}

/** Removes the event whose data is at `start` of the original; `removed` bytes were removed before. */
function without(bytes: Buffer, removed: number, data: { start: number; end: number }): Buffer {
  const at = data.start - removed
  const start = Math.max(bytes.lastIndexOf(LF, at), bytes.lastIndexOf(CR, at)) + 1
  let end = data.end - removed
  while (bytes[end] === LF || bytes[end] === CR) end++
  return Buffer.concat([bytes.subarray(0, start), bytes.subarray(end)])
}
