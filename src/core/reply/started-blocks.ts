import { elementsOf, latin1Of, type Members, membersOf, objectOf, utf8Of } from '../json/raw-json.ts'
import { ScanError } from '../json/scan.ts'

/**
 * DESIGN — blocks that are in `message_start` already
 *
 * `message_start` usually has an empty `content`. Where the provider continues a reply that it has begun, as when its
 * code execution has called a tool, the blocks are in it already, whole, and no events of their own follow. Readers
 * of a stream that go block by block get these blocks here, as the events that would have carried them.
 */

/** An event of a stream: its name and its data. */
export interface StartedEvent {
  readonly name: 'content_block_start' | 'content_block_stop'
  readonly data: string
}

/** A list that is not empty; nearly all streams have none in `message_start`, which then need not be scanned. */
const STARTED = /"content"\s*:\s*\[\s*[^\s\]]/

/** Returns the events that would have carried the blocks of a `message_start`; usually none. */
export function startedEvents(data: string): StartedEvent[] {
  if (!STARTED.test(data)) return []
  try {
    const message = objectOf(membersOf(latin1Of(data.trim())).get('message'))
    return message === undefined ? [] : startedBlocks(message).flatMap(eventsOf)
  } catch (error) {
    if (error instanceof ScanError) return []
    throw error
  }
}

/** Returns the raw blocks, read as latin1, with which a message begins; none where its content is no list. */
export function startedBlocks(message: Members): string[] {
  const content = message.get('content')
  return content?.startsWith('[') ? elementsOf(content) : []
}

function eventsOf(block: string, index: number): StartedEvent[] {
  const name = 'content_block_start'
  const stop = 'content_block_stop'
  return [
    { name, data: `{"type":"${name}","index":${index},"content_block":${utf8Of(block)}}` },
    { name: stop, data: `{"type":"${stop}","index":${index}}` },
  ]
}
