import { RequestDocument } from 'turnpike/plugin'
import type { Path, PreservedText } from 'turnpike/plugin/bytes'

/** Content of a declared text at its declaration. */
export interface Held {
  readonly text: PreservedText
  /** Bytes of a message's content; characters of a text; JSON of anything else. */
  readonly value: Buffer | string
}

/** Returns the current content of the declared texts. */
export function hold(request: RequestDocument, preserved: readonly PreservedText[]): Held[] {
  return preserved.map((text) => ({ text, value: contentAt(request, text) ?? '' }))
}

/**
 * Returns the declared texts that are lost: neither at their own path nor, where a plugin has inserted something before
 * them, anywhere in the request. A message may get further blocks.
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

/** Returns the bytes of a message's content, without the closing bracket of a list of blocks: others may follow. */
function messageContent(request: RequestDocument, index: number): Buffer | undefined {
  const range = request.shape.messages[index]
  const content = range && new RequestDocument(request.bytes.subarray(range.start, range.end)).raw('content')
  return content?.at(-1) === CLOSE_BRACKET ? content.subarray(0, -1) : content
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    // Safe: members may be read of anything that has members.
    (at, step) => (typeof at === 'object' && at !== null ? (at as Record<string | number, unknown>)[step] : undefined),
    value,
  )
}
