/**
 * DESIGN: estimates the least number of tokens of a reply from its text.
 *
 * Purpose: a provider that reports fewer output tokens than its reply can have is not trusted. The bound must never be
 * above an honest count, whatever the tokenizer, so it counts letters alone (and bytes beyond ASCII), without repeated
 * ones, which tokenizers join in long runs, and without those beyond the first 40 of a run without white space: images
 * in base64 come as text, and are counted otherwise. A reply has 3 to 5 such letters a token; the bound assumes 16.
 * Everything left out can only lower it: digits, signs, thinking (which some providers count apart), results of the
 * provider's own tools, members with escaped names.
 * Cost: one pass over the bytes of the text, without parsing; the text may be cut between events anywhere.
 */
const QUOTE = 34
const COLON = 58
const BACKSLASH = 92
const SLASH = 47
const SPACE = 32
const LAST_ASCII = 127
const LOWER_CASE = 32
const LETTER_A = 97
const LETTER_Z = 122
const LONGEST_RUN = 40
/** Bytes of a character in most scripts without spaces: a repeated one follows three bytes later. */
const CHARACTER_BYTES = 3
/** Letters of a token, at most. */
export const MOST_LETTERS = 16
const USUAL_LETTERS = 3

/** Counts the letters of a reply's texts. */
export class WrittenText {
  #letters = 0
  /** Characters since the last white space. */
  #run = 0

  /** Least output tokens of a reply with these texts. */
  get leastTokens(): number {
    return Math.floor(this.#letters / MOST_LETTERS)
  }

  /** Usual output tokens of a reply with these texts. */
  get likelyTokens(): number {
    return Math.ceil(this.#letters / USUAL_LETTERS)
  }

  /** Counts the content of the JSON string whose first character is at byte `start`, up to its closing quote. */
  addString(json: Uint8Array, start: number): void {
    let [letters, run] = [this.#letters, this.#run]
    for (let at = start; at < json.length; at++) {
      // Safe: within the array.
      let code = json[at] as number
      if (code === QUOTE) break
      if (code === BACKSLASH) {
        at++
        // Of the escapes only this one is found inside long runs; the others are white space or signs.
        code = json[at] === SLASH ? SLASH : SPACE
      }
      if (code <= SPACE) run = 0
      else if (code > LAST_ASCII) {
        if (json[at - CHARACTER_BYTES] !== code) letters++
      } else if (++run <= LONGEST_RUN && isLetter(code) && json[at - 1] !== code) letters++
    }
    this.#letters = letters
    this.#run = run
  }
}

function isLetter(code: number): boolean {
  const lower = code | LOWER_CASE
  return lower >= LETTER_A && lower <= LETTER_Z
}

/** Finds the text in similar events: it mostly begins where it began in the event before. */
export class TextFinder {
  /** Names of members whose value is text, in quotes. */
  readonly #names: readonly Buffer[]
  #name: Buffer | undefined
  /** Offset of the name from the start of the event's data. */
  #offset = 0

  constructor(names: readonly string[]) {
    this.#names = names.map((name) => Buffer.from(`"${name}"`))
  }

  /** Returns the offset of the text's first character; -1 for none. Of several texts in an event one is found. */
  find(json: Buffer, start: number, end: number): number {
    if (this.#name !== undefined && isAt(json, start + this.#offset, this.#name))
      return stringBehind(json, start + this.#offset + this.#name.length)
    const data = json.subarray(start, end)
    for (const name of this.#names) {
      const offset = data.indexOf(name)
      if (offset < 0) continue
      this.#name = name
      this.#offset = offset
      return stringBehind(json, start + offset + name.length)
    }
    return -1
  }
}

function isAt(json: Uint8Array, at: number, name: Uint8Array): boolean {
  for (let i = 0; i < name.length; i++) if (json[at + i] !== name[i]) return false
  return true
}

/** Returns the offset after the quote that opens a member's value; -1 when the value is no string. */
function stringBehind(json: Uint8Array, nameEnd: number): number {
  let at = skipSpaces(json, nameEnd)
  if (json[at] !== COLON) return -1
  at = skipSpaces(json, at + 1)
  return json[at] === QUOTE ? at + 1 : -1
}

function skipSpaces(json: Uint8Array, start: number): number {
  let at = start
  while (json[at] === SPACE) at++
  return at
}
