import type { Reply } from 'turnpike/plugin'
import type { StreamReply } from 'turnpike/plugin/bytes'
import { factsOf, type StoredReply, storedOfBytes } from 'turnpike/plugin/cache'

/**
 * Returns the provider's reply for storage: at once for JSON, at its end for a stream, which is only observed.
 * `undefined` without a complete reply of at most `limitBytes`.
 */
export async function wholeReplyOf(reply: Reply | undefined, limitBytes: number): Promise<StoredReply | undefined> {
  if (reply?.status !== 200) return undefined
  const stored = reply.kind === 'bytes' ? storedOfBytes(reply) : await watchStream(reply, limitBytes)
  return stored !== undefined && stored.body.length <= limitBytes ? stored : undefined
}

async function watchStream(reply: StreamReply, limitBytes: number): Promise<StoredReply | undefined> {
  const { dialect, headers } = reply
  // Of now: a plugin before the cache may add headers for its own caller.
  const facts = factsOf(headers)
  const portions: Buffer[] = []
  let size = 0
  reply.onPortion((portion) => {
    size += portion.length
    if (size <= limitBytes) portions.push(portion)
    else portions.length = 0
  })
  const { outcome, usage } = await reply.ended
  if (outcome !== 'complete' || size > limitBytes) return undefined
  return { kind: 'stream', dialect: dialect.name, facts, usage, body: Buffer.concat(portions) }
}
