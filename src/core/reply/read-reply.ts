import { children } from '../json/scan.ts'
import { boundedOutline, type ReplyOutline } from './outline.ts'
import type { BytesReply } from './reply.ts'
import type { Usage } from './usage.ts'
import { BytesShown, lastNamed, type UsageCheck } from './usage-check.ts'

/** Reads the usage, the last one as in JSON.parse, and the outline of a reply's JSON; the rest is not parsed. */
export function readReply(
  { bytes, dialect }: Pick<BytesReply, 'bytes' | 'dialect'>,
  check: UsageCheck | undefined,
): { usage?: Usage | undefined; outline: ReplyOutline } {
  let outline = boundedOutline({})
  try {
    const json = bytes.toString('latin1')
    const members = children(json, json.indexOf('{'))
    outline = boundedOutline(dialect.readOutline(json, members))
    const range = lastNamed(members, 'usage')
    const usage = range && dialect.readUsage(JSON.parse(bytes.toString('utf8', range.start, range.end)))
    if (check === undefined) return { usage, outline }
    return { usage: check(usage, new BytesShown(bytes, { json, members }, dialect.written)), outline }
  } catch {
    return { outline }
  }
}
