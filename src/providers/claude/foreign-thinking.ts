import type { Losses } from '../../core/losses.ts'
import type { ContentBlock } from '../../core/message.ts'
import type { RequestDocument } from '../../core/request.ts'
import type { Edit } from '../../core/splice.ts'

/**
 * Thinking of other providers' models reaches clients without a signature, or with one that is not of this API. A
 * conversation that goes on with a Claude model brings it back; the API refuses what it has not signed.
 */
const MARKS = [Buffer.from('"signature":""'), Buffer.from('"signature": ""'), Buffer.from('"gemini:')]

/** Edits that take foreign thinking out, and the messages that consist of nothing else. */
export function foreignThinking(request: RequestDocument, losses: Losses): Edit[] {
  if (!MARKS.some((mark) => request.bytes.includes(mark))) return []
  const edits = request.messages.flatMap(({ content }, message): Edit[] => {
    if (typeof content === 'string') return []
    const foreign = content.flatMap((block, index) => (isForeign(block) ? [index] : []))
    if (foreign.length === content.length && foreign.length > 0) return [{ op: 'remove', path: ['messages', message] }]
    return foreign.map((index) => ({ op: 'remove', path: ['messages', message, 'content', index] }))
  })
  if (edits.length > 0) losses.drop('messages.content.thinking')
  return edits
}

function isForeign(block: ContentBlock): boolean {
  if (block.type !== 'thinking') return false
  return block.signature === '' || (typeof block.signature === 'string' && block.signature.startsWith('gemini:'))
}
