import { isEnglish } from './english/language.ts'
import { rewriteEnglish } from './english/rewrite.ts'
import { readText } from './read.ts'

/** Version of the rules, part of every scope: incremented when a form changes. */
export const RULES_VERSION = 'canonical-9'

/** Matches quoted material behind a colon, which is preserved exactly. */
const HANDED_OVER = /^(?<head>[^:\n]{3,200}):(?<gap>\s+)(?<payload>\S.*)$/su
const COURTESY =
  /^\s*(?:please help(?: me)?|(?:quick |short |simple )?question|i have a (?:quick |short |simple )?question)\s*:\s+/i
const LONE_MARK = /\s*[.?!]?\s*$/u

/**
 * Returns the canonical phrasing of a question: two texts of one form may share an answer. A text that is not English,
 * or may be about its own wording, is its own form. The form of a form is itself.
 */
export function canonicalOf(text: string): string {
  const question = text.trim().replace(COURTESY, '')
  if (!isEnglish(question)) return text
  const { head, gap = '', payload } = HANDED_OVER.exec(question)?.groups ?? {}
  if (head === undefined || payload === undefined) return question.includes('\n') ? text : (phraseOf(question) ?? text)
  const form = phraseOf(head, true)
  return form === undefined ? text : `${form.replace(LONE_MARK, '')}:${gap.includes('\n') ? '\n' : ' '}${payload}`
}

function phraseOf(text: string, keepsNumerals = false): string | undefined {
  const reading = readText(text)
  return reading && rewriteEnglish(reading, keepsNumerals)
}
