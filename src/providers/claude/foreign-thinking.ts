import type { Edit } from '../../core/json/splice.ts'
import type { Reply } from '../../core/reply/reply.ts'
import type { DroppedFields } from '../../core/request/dropped-fields.ts'
import type { ContentBlock } from '../../core/request/message.ts'
import type { RequestDocument } from '../../core/request/request.ts'

/**
 * DESIGN — thinking of another provider
 *
 * It reaches clients without a signature, or with one that is not of this API. A conversation that continues with a Claude
 * model sends it back, and the API refuses thinking that it has not signed. Searching every request for it would cost more
 * than any other step, so it is removed only after the API has refused a signature; a refusal is free and immediate.
 */
const FOREIGN_SIGNATURE = /^(?:gemini(?:-text)?:|openai-reasoning:|$)/
const REFUSED = Buffer.from('signature')

/** Returns true for a reply that refuses a signature. */
export function refusesSignature(reply: Reply): boolean {
  return reply.status === 400 && reply.kind === 'bytes' && reply.bytes.includes(REFUSED)
}

/** Returns edits that remove foreign thinking, and the messages that consist of nothing else. */
export function foreignThinking(request: RequestDocument, droppedFields: DroppedFields): Edit[] {
  const edits = request.messages.flatMap(({ content }, message): Edit[] => {
    if (typeof content === 'string') return []
    const foreign = content.flatMap((block, index) => (isForeign(block) ? [index] : []))
    if (foreign.length === content.length && foreign.length > 0) return [{ op: 'remove', path: ['messages', message] }]
    return foreign.map((index) => ({ op: 'remove', path: ['messages', message, 'content', index] }))
  })
  if (edits.length > 0) droppedFields.drop('messages.content.thinking')
  return edits
}

function isForeign(block: ContentBlock): boolean {
  return block.type === 'thinking' && typeof block.signature === 'string' && FOREIGN_SIGNATURE.test(block.signature)
}
