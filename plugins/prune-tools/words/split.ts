import { glossOf } from './glossary.ts'

/** Words that are frequent in all requests and descriptions, and so carry no information. */
const STOP_WORDS = new Set(
  (
    'a an and are as at be been but by can could did do does for from had has have he her him his how i if in into is it ' +
    'its just let lets me my of on or our out over please she should so some such than that the their them then there ' +
    'these they this to too up us was we were what when where which while who whom why will with would you your yours ' +
    'am any about also after all being both each few more most other own same until very via within without need needs ' +
    'want wants like help using use used uses given give gives provide provides tell get gets make sure know based ' +
    'specific thank thanks hi hello hey now already yes okay ok im ive id ill dont doesnt cant return returns function ' +
    'tool tools allows allow user users optional default e g eg etc value parameter'
  ).split(' '),
)
const WORD = /[a-z]+|\d+|[\u3400-\u9fff]/g
/**
 * Matches borders inside `readFile` and `PDFFile`. Zero-width look-around only: otherwise long runs of capitals would
 * be slow.
 */
const SEAM = /(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g
const LONE_LETTER = /^[a-z\d]$/

/**
 * Returns the significant words of a text, lower-case, in order: names in camel or snake case are split, a Chinese
 * character is a word, and English words are added for Chinese ones.
 */
export function splitWords(text: string): string[] {
  const words = (text.replace(SEAM, ' ') + glossOf(text)).toLowerCase().match(WORD) ?? []
  return words.filter((word) => !STOP_WORDS.has(word) && !LONE_LETTER.test(word))
}
