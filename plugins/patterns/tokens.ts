/**
 * DESIGN: upper bound on the tokens of a text.
 *
 * A budget must hold for every model's tokenizer and be equal on every call of a conversation, so that injections are
 * stable: a calibrated estimate would change as it learns. Here a word counts a token for each five of its letters
 * begun, digits by three, every other character one; white space belongs to the next word, except in runs. For English
 * that is about a third more than o200k counts.
 */
const PIECE = /[A-Za-z]+|\d{1,3}|\s+|[^\sA-Za-z\d]/gu
const LETTERS_PER_TOKEN = 5
const SPACES_PER_TOKEN = 8
const LETTER = /^[A-Za-z]/
const SPACE = /^\s/

/** Returns the most tokens that the text is likely to have in any tokenizer. */
export function boundTokens(text: string): number {
  let tokens = 0
  for (const [piece] of text.matchAll(PIECE)) {
    if (LETTER.test(piece)) tokens += Math.ceil(piece.length / LETTERS_PER_TOKEN)
    else if (!SPACE.test(piece)) tokens += piece.length > 1 ? tokensOfSymbol(piece) : tokensOfCharacter(piece)
    else if (piece !== ' ') tokens += Math.ceil(piece.length / SPACES_PER_TOKEN)
  }
  return tokens
}

const LAST_ASCII = 127
const TOKENS_OF_RARE = 2
const TOKENS_OF_PAIR = 4

function tokensOfCharacter(character: string): number {
  return character.charCodeAt(0) > LAST_ASCII ? TOKENS_OF_RARE : 1
}

/**
 * Returns the tokens of a symbol: digits are one; a character outside of the first plane is four bytes, so at most four
 * tokens.
 */
function tokensOfSymbol(piece: string): number {
  return piece.charCodeAt(0) > LAST_ASCII ? TOKENS_OF_PAIR : 1
}
