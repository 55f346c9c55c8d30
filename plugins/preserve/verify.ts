import { RequestDocument } from 'turnpike/plugin'
import type { Path, PreservedText } from 'turnpike/plugin/bytes'

/** What a declared text held when it was declared. */
export interface Held {
  readonly text: PreservedText
  /** Of a message, the bytes of its content; of a text, its characters; of anything else, its JSON. */
  readonly value: Buffer | string
}

/** What the declared texts hold now. */
export function hold(request: RequestDocument, preserved: readonly PreservedText[]): Held[] {
  return preserved.map((text) => ({ text, value: contentAt(request, text) ?? '' }))
}

/**
 * Those that are no longer there: neither in their own place nor, where a module has put something in front of them,
 * anywhere in the request. A message may be given further blocks.
 */
export function missing(request: RequestDocument, held: readonly Held[]): Held[] {
  let all: string | undefined
  return held.filter(({ text, value }) => {
    if (typeof value !== 'string') return !request.bytes.includes(value)
    if (contentAt(request, text) === value) return false
    all ??= JSON.stringify(request.messages)
    return !all.includes(JSON.stringify(value).slice(1, -1)) && !all.includes(value)
  })
}

const CLOSE_BRACKET = 0x5d

function contentAt(request: RequestDocument, { path, start, end }: PreservedText): Buffer | string | undefined {
  const [field, ...rest] = path
  if (field === 'messages' && rest.length === 1) return messageContent(request, Number(rest[0]))
  const value = valueAt(request.field(String(field)), rest)
  return typeof value === 'string' ? value.slice(start, end) : JSON.stringify(value)
}

/** The bytes of a message's content, without the bracket that closes a list of blocks: others may come behind them. */
function messageContent(request: RequestDocument, index: number): Buffer | undefined {
  const range = request.shape.messages[index]
  const content = range && new RequestDocument(request.bytes.subarray(range.start, range.end)).raw('content')
  return content?.at(-1) === CLOSE_BRACKET ? content.subarray(0, -1) : content
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    // Safe: members of anything that has members may be asked for.
    (at, step) => (typeof at === 'object' && at !== null ? (at as Record<string | number, unknown>)[step] : undefined),
    value,
  )
}
