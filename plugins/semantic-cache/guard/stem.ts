import { IRREGULAR } from './lexicon.ts'

const VOWEL = /[aeiouy]/
const DOUBLED = /([bdfgmnprt])\1$/
/** Words whose ending is none. */
const WHOLE = new Set(
  `news always perhaps thus less unless this his its as is was has yes bus gas plus status virus canvas alias lens
  during morning evening thing nothing something anything everything king ring string spring bring sing wing ceiling
  need speed feed seed breed bleed weed red bed led fed shed exceed succeed proceed indeed hundred sacred naked wicked
  series species physics mathematics politics economics athletics basics kubernetes redis aws dns https
  formation station ration nation location`.split(/\s+/),
)

/**
 * What a word is reduced to, so that `sending`, `sends` and `sent` are one. Comparatives stay as they are, and so does
 * what makes another word: `un-`, `-less`, `-er`, `-ness`. The result is for comparing, not for reading.
 */
export function stem(word: string): string {
  const regular = IRREGULAR.get(word)
  if (regular !== undefined) return spelt(withoutFinalE(regular))
  if (word.length < 4) return word
  return spelt(WHOLE.has(word) ? word : withoutFinalE(withoutPastOrProgressive(withoutPlural(word))))
}

const LONG = 6

/** One spelling of what is spelt in two ways: `movie` and its plural, `organise`, `harbour`, `cancelled`. */
function spelt(word: string): string {
  if (word.length < 4) return word
  const ended = word.replace(/(?:ie|y)$/, 'i')
  if (ended.length < LONG) return ended
  return ended
    .replace(/isation$/, 'ization')
    .replace(/([aiy])s$/, '$1z')
    .replace(/our$/, 'or')
    .replace(/ll$/, 'l')
}

function withoutPlural(word: string): string {
  if (!word.endsWith('s') || /(ss|us|is)$/.test(word)) return word
  if (word.endsWith('ies') && word.length > 4) return `${word.slice(0, -3)}y`
  if (/(ch|sh|ss|x|zz)es$/.test(word)) return word.slice(0, -2)
  return word.slice(0, -1)
}

function withoutPastOrProgressive(word: string): string {
  if (WHOLE.has(word)) return word
  for (const ending of ['ing', 'ed']) {
    if (!word.endsWith(ending)) continue
    const rest = word.slice(0, -ending.length)
    if (rest.length < 3 || !VOWEL.test(rest)) return word
    if (ending === 'ed' && rest.endsWith('i')) return `${rest.slice(0, -1)}y`
    return DOUBLED.test(rest) ? rest.slice(0, -1) : rest
  }
  return word
}

function withoutFinalE(word: string): string {
  return word.length > 3 && word.endsWith('e') && !word.endsWith('ee') ? word.slice(0, -1) : word
}
