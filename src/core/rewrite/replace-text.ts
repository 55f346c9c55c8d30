import type { MapText } from './text-map.ts'

/** Options of `replaceText`. */
export interface ReplaceTextOptions {
  /**
   * Longest match, in UTF-16 units, from 1 to 1,000. So many characters of a stream are held back, so no larger
   * than needed; a longer match is an error.
   */
  readonly longest: number
}

const MOST_LONGEST = 1000

/**
 * Creates a function for `exchange.mapText` that replaces each match of `pattern`, also where a match is spread over
 * several events of a stream: the result is the same however the text arrives. `\b` and lookarounds see 64 characters
 * before a match and one after the longest one; an empty match is none. `replacement` is the text itself,
 * without `$1`, or a function of the match.
 */
export function replaceText(
  pattern: RegExp,
  replacement: string | ((match: string) => string),
  { longest }: ReplaceTextOptions,
): MapText {
  if (!Number.isInteger(longest) || longest < 1 || longest > MOST_LONGEST)
    throw new RangeError(`expected \`longest\` from 1 to ${MOST_LONGEST}, got ${longest}`)
  const search = new RegExp(pattern.source, `${pattern.flags.replace(/[gy]/g, '')}g`)
  const replacementOf = typeof replacement === 'string' ? () => replacement : replacement
  return (text, { before, isLast }) => {
    const whole = before + text
    // A match that begins at `open` or later may continue in the next chunk.
    const open = isLast ? whole.length + 1 : Math.max(before.length, whole.length - longest)
    let done = before.length
    let replaced = ''
    search.lastIndex = done
    for (let match = search.exec(whole); match !== null && match.index < open; match = search.exec(whole)) {
      const [found] = match
      if (found === '') {
        search.lastIndex = match.index + String.fromCodePoint(whole.codePointAt(match.index) ?? 0).length
        continue
      }
      if (found.length > longest)
        throw new RangeError(`a match is ${found.length} characters long, \`longest\` is ${longest}`)
      replaced += whole.slice(done, match.index) + replacementOf(found)
      done = match.index + found.length
    }
    const end = Math.max(done, wholeCharacterEnd(whole, Math.min(open, whole.length)))
    return { text: replaced + whole.slice(done, end), keep: whole.length - end }
  }
}

const HIGH_SURROGATE = /[\ud800-\udbff]/

/** Returns the offset, or one less where it would part the two units of a character. */
function wholeCharacterEnd(text: string, at: number): number {
  return at < text.length && HIGH_SURROGATE.test(text[at - 1] ?? '') ? at - 1 : at
}
