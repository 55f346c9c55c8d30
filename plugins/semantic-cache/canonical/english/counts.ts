import { PLACEHOLDERS, type Token } from '../read.ts'
import { NUMBER_WORDS } from './words.ts'

const PLACEHOLDER = new RegExp(PLACEHOLDERS.any)
/** Matches a word that can be counted: no word of grammar, nor a name, whose number belongs to it. */
const COUNTED =
  /^(?!(?:in|on|at|of|to|for|from|with|by|as|is|are|was|were|do|does|did|can|will|and|or|but|if|that|which|who|come|came|start|end|movie|film|cast|plot|trailer|soundtrack|lyrics|song|album|book|series|show|director)$)[a-z-]{2,}$/
const BEFORE_AMOUNT = /^(?:at|by|until|before|after|between|plus|minus|times|than)$/
const AFTER_AMOUNT = /^(?:plus|minus|times|divided|squared|cubed)$/

/**
 * Tests for a number word that counts what follows or is a time: `nine` and `9` are two films, and `twenty five year olds`
 * are not 20 of 5 years.
 */
export function isCount(tokens: readonly Token[], place: number): boolean {
  const [before = '', after = ''] = [tokens[place - 1]?.text.toLowerCase(), tokens[place + 1]?.text.toLowerCase()]
  if (isNumber(before) || isNumber(after)) return false
  return COUNTED.test(after) || BEFORE_AMOUNT.test(before) || AFTER_AMOUNT.test(after)
}

function isNumber(word: string): boolean {
  return NUMBER_WORDS.has(word) || PLACEHOLDER.test(word) || /^(?:one|first|second|third)$/.test(word)
}
