import { GatewayError } from '../errors.ts'

/** Form of a tag. */
export const TAG = /^[a-z0-9][a-z0-9._-]{0,39}$/
/** Most tags of a request, those of its key included. */
const MOST_TAGS = 8
/** Request header with further tags, separated by commas. */
export const TAG_HEADER = 'x-svc-tag'
/** No tags. */
export const NO_TAGS: readonly string[] = []

const LONGEST_SHOWN = 40
const BLANK = /[ \t]/

/**
 * Returns the tags of a request, its key's and those of its header: sorted, without repetitions. Throws `invalid_request` for
 * a header with another text than tags, or too many of them.
 */
export function tagsOf(
  headers: NodeJS.Dict<string | string[]>,
  ofKey: readonly string[] | undefined = NO_TAGS,
): readonly string[] {
  const header = headers[TAG_HEADER]
  if (header === undefined) return ofKey
  const tags = new Set(ofKey)
  for (const part of String(header).split(',')) {
    const tag = trimmed(part)
    // Empty members of a list mean nothing (RFC 9110, section 5.6.1).
    if (tag === '') continue
    if (!TAG.test(tag)) throw refusal(`got \`${tag.slice(0, LONGEST_SHOWN)}\``)
    tags.add(tag)
    if (tags.size > MOST_TAGS) throw refusal(`got more than ${MOST_TAGS}, those of the key included`)
  }
  return tags.size === ofKey.length ? ofKey : [...tags].sort()
}

/** Trims a member of a list. The pattern `[ \t]+$` would take quadratic time. */
function trimmed(part: string): string {
  let [from, to] = [0, part.length]
  while (from < to && BLANK.test(part[from] ?? '')) from++
  while (to > from && BLANK.test(part[to - 1] ?? '')) to--
  return part.slice(from, to)
}

function refusal(got: string): GatewayError {
  return new GatewayError(
    'invalid_request',
    `${TAG_HEADER}: expected up to ${MOST_TAGS} tags separated by commas, each of 1 to 40 lower-case letters, digits, dots, hyphens and underscores, ${got}.`,
  )
}
