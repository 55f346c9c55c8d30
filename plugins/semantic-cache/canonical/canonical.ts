import { isEnglish } from './english/language.ts'
import { rewriteEnglish } from './english/rewrite.ts'
import { readText } from './read.ts'

/** Part of every scope: goes up whenever a form changes. */
export const RULES_VERSION = 'canonical-5'

/** Whatever stands behind a colon is handed over, not asked: it stays to the letter. */
const HANDED_OVER = /^(?<head>[^:\n]{3,200}):(?<gap>\s+)(?<payload>\S.*)$/su
const COURTESY =
  /^\s*(?:please help(?: me)?|(?:quick |short |simple )?question|i have a (?:quick |short |simple )?question)\s*:\s+/i
const LONE_MARK = /\s*[.?!]?\s*$/u

/**
 * What a text asks, in the one way of asking that stands for all others: two texts of one form may share an answer.
 * A text of which nothing is known, for it is not English, or may be about its own wording, is its own form. The form of
 * a form is itself.
 */
export function canonicalOf(text: string): string {
  const asked = text.trim().replace(COURTESY, '')
  if (!isEnglish(asked)) return text
  const { head, gap = '', payload } = HANDED_OVER.exec(asked)?.groups ?? {}
  if (head === undefined || payload === undefined) return asked.includes('\n') ? text : (phraseOf(asked) ?? text)
  const form = phraseOf(head, true)
  return form === undefined ? text : `${form.replace(LONE_MARK, '')}:${gap.includes('\n') ? '\n' : ' '}${payload}`
}

function phraseOf(text: string, keepsNumerals = false): string | undefined {
  const reading = readText(text)
  return reading && rewriteEnglish(reading, keepsNumerals)
}
