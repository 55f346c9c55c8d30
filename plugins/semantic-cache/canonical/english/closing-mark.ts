/** Matches the start of a statement: `Which is fine.`, `Would recommend.` */
const STATED =
  /^(?:what|where|when|why|who|which)\b(?! (?:is|are|was|were|do|does|did|can|could|should|would|will|has|have) )|^(?:can|could|should|would|will|must|has|did|was|were|is|are|does|am|have)\b(?! (?:i|you|he|she|it|we|they|there|the|an?|my|your|his|her|our|their|this|that|these|those)\b)|^which is\b/
/** Matches a request of which `?` makes no question, as it does of `Delete this file?` */
const REQUEST = /^(?:¿ |(?:please|kindly|compute|calculate|convert|explain|define)\b)/
const HOW_TO = /^(?:how to|tell me)\b/
/** Matches the start of a question; in `What she did was wrong?` and `Could be wrong?` the mark makes one of a statement. */
const QUESTION =
  /^(?:(?:what|where|when|why|who|which|how)\b(?! (?:i|you|he|she|it|we|they|my|your|his|her|our|their)\b)|(?:can|could|should|would|will|must|has|did)\b(?! (?:be|been|have|not|never|also|just)\b)|(?:was|were)\b(?! \w+ing\b)|(?:whom|whose|is|are|do (?:i|you|we|they)|does|may i|am i|have i)\b)/
/** Matches a question at the end, behind its context. */
const LAST_QUESTION = / [,.] (?:what|how|where|when|why|who|which|can i|should i|do i)\b[^,.?!]*$/
const CRY = /^(?:what|how)\b/
/** Matches closing marks, except `…` and `...`, which may request a continuation, and `?` behind a list: `sorry, thanks?` */
const CLOSING_MARK = /(?<! [.…]| , (?:thanks|thank you|thx)) (?:\.|[?!](?: [?!])*)$/

/**
 * Strips a closing mark from a question; elsewhere `?` makes one (`Delete this file?`), and `!` an exclamation of it.
 */
export function withoutClosingMark(text: string): string {
  const bare = text.replace(CLOSING_MARK, '')
  const mark = text.slice(bare.length)
  if (mark.includes('!') && !mark.includes('?') && CRY.test(bare)) return text
  if (mark === ' .' && STATED.test(bare)) return text
  const isAsked = QUESTION.test(bare) || LAST_QUESTION.test(bare) || HOW_TO.test(bare) || REQUEST.test(bare)
  return mark.includes('?') && !isAsked && bare !== '' ? `${bare} ?` : bare
}
