import { type Child, children } from '../json/scan.ts'
import { skipSpace } from '../json/scan-value.ts'
import { boundedOutline, type ReplyOutline } from './outline.ts'
import type { BytesReply } from './reply.ts'
import type { Usage } from './usage.ts'
import { BytesShown, lastNamed, type UsageCheck } from './usage-check.ts'

/** Facts about a JSON reply, from one scan of its bytes. */
export interface ReplyFacts {
  readonly usage?: Usage | undefined
  readonly outline: ReplyOutline
  /** True if the bytes are one JSON object from the first to the last. Escapes are not checked. */
  readonly isWhole: boolean
}

/** Reads the usage, the last one as in JSON.parse, and the outline of a reply's JSON; the rest is not parsed. */
export function readReply(
  { bytes, dialect }: Pick<BytesReply, 'bytes' | 'dialect'>,
  check: UsageCheck | undefined,
): ReplyFacts {
  let facts: ReplyFacts = { outline: boundedOutline({}), isWhole: false }
  try {
    const json = bytes.toString('latin1')
    const members = children(json, json.indexOf('{'))
    facts = { outline: boundedOutline(dialect.readOutline(json, members)), isWhole: isOnlyObject(json, members) }
    const range = lastNamed(members, 'usage')
    const usage = range && dialect.readUsage(JSON.parse(bytes.toString('utf8', range.start, range.end)))
    if (check === undefined) return { ...facts, usage }
    return { ...facts, usage: check(usage, new BytesShown(bytes, { json, members }, dialect.written)) }
  } catch {
    return facts
  }
}

/** Tests that nothing but white space surrounds an object with these members. */
function isOnlyObject(json: string, members: readonly Child[]): boolean {
  const start = json.indexOf('{')
  const closing = json.indexOf('}', members.at(-1)?.end ?? start)
  return skipSpace(json, 0) === start && skipSpace(json, closing + 1) === json.length
}
