import type { Edit, RequestDocument } from 'turnpike/plugin'
import type { Lifetime } from './economics.ts'
import type { Mark } from './plan.ts'
import { lengthOf } from './request-outline.ts'

const QUOTE = '"'.charCodeAt(0)

/** Returns the edits that set marks. A text becomes a list of one block, with the same bytes. */
export function markEdits(request: RequestDocument, marks: readonly Mark[]): Edit[] {
  return marks.map(({ place, lifetime }): Edit => {
    const list = place.kind === 'message' ? (['messages', place.index, 'content'] as const) : ([place.kind] as const)
    const raw = request.rawAt(list)
    if (raw === undefined) throw new Error(`no ${list.join('.')} to be marked`)
    if (raw[0] === QUOTE) return { op: 'replace', path: list, value: blockOf(raw, lifetime) }
    const block = place.kind === 'message' && place.block !== undefined ? place.block : lengthOf(raw) - 1
    return { op: 'add', path: [...list, block, 'cache_control'], value: markOf(lifetime) }
  })
}

/** Five minutes are the default, which all providers take. */
function markOf(lifetime: Lifetime): object {
  return lifetime === '5m' ? { type: 'ephemeral' } : { type: 'ephemeral', ttl: lifetime }
}

function blockOf(text: Buffer, lifetime: Lifetime): Buffer {
  const mark = JSON.stringify(markOf(lifetime))
  return Buffer.concat([Buffer.from('[{"type":"text","text":'), text, Buffer.from(`,"cache_control":${mark}}]`)])
}

/** Prints marks for the trace: `system 5m, messages.4 5m`. */
export function printMarks(marks: readonly Mark[]): string {
  return marks
    .map(({ place, lifetime }) => `${place.kind === 'message' ? `messages.${place.index}` : place.kind} ${lifetime}`)
    .join(', ')
}
