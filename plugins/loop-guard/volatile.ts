/** Alternatives that match in texts which change from run to run. Every quantifier is bounded, so the search is linear. */
const TIMES = [
  String.raw`\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?`,
  String.raw`\b\d{1,2}:\d\d:\d\d(?:[.,]\d{1,9})?\b`,
  String.raw`\b1[5-9]\d{8}(?:\d{3})?(?:\.\d{1,9})?\b`,
  String.raw`\b\d{1,7}(?:[.,]\d{1,9})? ?(?:(?:ns|[µu]s|ms|s|secs?|seconds?|mins?|minutes?|Sekunden?|Minuten?|secondes?|segundos?)\b|ミリ秒|毫秒|秒)`,
]
const COUNTERS = [
  String.raw`\b(?:attempt|retry|try|versuch|tentative|intento)[ #:=]{1,2}\d{1,4}(?:(?: of |\/)\d{1,4})?`,
  String.raw`(?:第 ?\d{1,4} ?[次回])`,
  String.raw`\bpid["' :=#]{1,4}\d{1,8}\b`,
]
const TEMPORARY_FOLDERS = [
  String.raw`(?:\/private)?\/(?:tmp|var\/tmp|var\/folders|dev\/shm)\/[^\s"'\x60:,;)\]}>]{1,200}`,
  String.raw`\\(?:Temp|tmp)\\[^\s"'\x60:,;)\]}>]{1,200}`,
]
const IDS = [
  String.raw`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`,
  String.raw`\b(?:req|msg|toolu|call|run|trace|span|sess|evt)[_-][A-Za-z0-9]{6,64}\b`,
  String.raw`\b0x[0-9a-f]{4,16}\b`,
  String.raw`\b[0-9a-f]{12,64}\b`,
]
const ANSI = `${String.fromCharCode(27)}\\[[0-9;]{0,16}m`

const VOLATILE = new RegExp(
  `(?<ansi>${ANSI})|(?<id>${IDS.join('|')})|(?<time>${TIMES.join('|')})|(?<count>${COUNTERS.join('|')})|(?<folder>${TEMPORARY_FOLDERS.join('|')})`,
  'gi',
)
/** A name that a program made up: with a digit, or with a capital after a small letter. */
const MADE_UP = /\d|[a-z][A-Z]/
/** A text with more ids is a list of them: they are its contents. */
const MOST_IDS = 8
/** A text of which more is volatile consists of it, as the output of `date`. */
const MOST_VOLATILE = 0.5
/** Characters at the beginning and at the end of a text that are searched: the middle of a long one is compared as it is. */
const SEARCHED = 8 * 1024

/**
 * Replaces times, durations, counters of attempts, ids, process ids and temporary paths by their kinds, so that two runs of
 * one command compare equal. A text that consists of such values, or lists them, keeps them.
 */
export function withoutVolatile(text: string): string {
  if (text.length <= 2 * SEARCHED) return stableOf(text)
  return stableOf(text.slice(0, SEARCHED)) + text.slice(SEARCHED, -SEARCHED) + stableOf(text.slice(-SEARCHED))
}

function stableOf(text: string): string {
  let ids = 0
  let replaced = 0
  const stable = text.replace(VOLATILE, (found: string, ...rest: unknown[]) => {
    // Safe: the last argument of a replacer is the groups, since the expression has named ones.
    const kind = kindOf(rest.at(-1) as Record<string, string | undefined>)
    if (kind === 'ansi') return ''
    if (kind === 'folder' && !MADE_UP.test(found)) return found
    if (kind === 'id') ids++
    replaced += found.length
    return `‹${kind}›`
  })
  return ids > MOST_IDS || replaced > text.length * MOST_VOLATILE ? text : stable
}

function kindOf(groups: Readonly<Record<string, string | undefined>>): string {
  for (const name in groups) if (groups[name] !== undefined) return name
  return ''
}
