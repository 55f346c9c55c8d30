const LONGEST_PLAIN = 3
const VOWEL = /[aeiouy]/
const DERIVED: readonly (readonly [ending: string, instead: string])[] = [
  ['ational', 'ate'],
  ['ization', 'ize'],
  ['isation', 'ize'],
  ['iveness', 'ive'],
  ['fulness', 'ful'],
  ['ations', 'ate'],
  ['ation', 'ate'],
  ['ators', 'ate'],
  ['ator', 'ate'],
  ['ness', ''],
  ['ally', 'al'],
  ['ably', 'able'],
  ['fully', 'ful'],
  ['ously', 'ous'],
  ['ions', 'e'],
  ['tion', 't'],
  ['sion', 's'],
  ['ise', 'ize'],
  ['ly', ''],
]
const LEAST_ROOT = 3

/**
 * Returns the common stem of an English word's forms: `searches`, `searching` and `search` have one. After Porter's
 * suffix stripping (1980), in fewer steps; it need not be a word.
 */
export function stem(word: string): string {
  if (word.length <= LONGEST_PLAIN) return word
  return withoutLastVowel(withoutDerivation(withoutTense(withoutPlural(word))))
}

function withoutPlural(word: string): string {
  if (word.endsWith('ies') && word.length > LONGEST_PLAIN + 1) return `${word.slice(0, -3)}y`
  if (word.endsWith('sses') || /(?:x|ch|sh|ss|z)es$/.test(word)) return word.slice(0, -2)
  return word.endsWith('s') && !/(?:ss|us|is)$/.test(word) ? word.slice(0, -1) : word
}

function withoutTense(word: string): string {
  for (const ending of ['ing', 'ed']) {
    const root = word.slice(0, -ending.length)
    if (word.endsWith(ending) && root.length >= LEAST_ROOT && VOWEL.test(root)) return repaired(root)
  }
  return word
}

/** Repairs a root: `creat` lacks its e, `plann` has an n too many. */
function repaired(root: string): string {
  if (/(?:at|bl|iz)$/.test(root)) return `${root}e`
  return /([^aeiouylsz])\1$/.test(root) ? root.slice(0, -1) : root
}

function withoutDerivation(word: string): string {
  const found = DERIVED.find(([ending]) => word.endsWith(ending) && word.length - ending.length >= LEAST_ROOT)
  return found === undefined ? word : word.slice(0, -found[0].length) + found[1]
}

function withoutLastVowel(word: string): string {
  const short = word.endsWith('e') && word.length > LONGEST_PLAIN + 1 ? word.slice(0, -1) : word
  return short.endsWith('y') && short.length > LONGEST_PLAIN ? `${short.slice(0, -1)}i` : short
}
