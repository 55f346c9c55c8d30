/**
 * DESIGN: how many tokens a reply has at least, by the text in it.
 *
 * Purpose: a provider that reports fewer output tokens than its answer can have is not believed. The bound must never be
 * above an honest count, whatever the tokenizer, so it counts letters alone (and bytes beyond ASCII), of these no
 * repeated ones, which tokenizers join in long runs, and none beyond the first 40 of a run without white space: images
 * in base64 come as text, and are counted otherwise. Of such letters an answer has 3 to 5 a token; the bound takes 16.
 * What is left out can only make it lower: digits, signs, thinking (which some providers count apart), results of the
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
/** Bytes of a character in most scripts without spaces: a repeated one is three bytes behind itself. */
const CHARACTER_BYTES = 3
/** Letters of a token, at most. */
export const MOST_LETTERS = 16
const USUAL_LETTERS = 3

/** Counts the letters of an answer's texts. */
export class WrittenText {
  #letters = 0
  /** Characters since the last white space. */
  #run = 0

  /** Output tokens that an answer with these texts has at least. */
  get leastTokens(): number {
    return Math.floor(this.#letters / MOST_LETTERS)
  }

  /** Output tokens that an answer with these texts usually has. */
  get likelyTokens(): number {
    return Math.ceil(this.#letters / USUAL_LETTERS)
  }

  /** Counts the inside of the JSON string whose first character is at byte `start`, up to its closing quote. */
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

/** Finds the text in events of one shape after another: it mostly begins where it began in the event before. */
export class TextFinder {
  /** Names of members whose value is text, in quotes. */
  readonly #names: readonly Buffer[]
  #name: Buffer | undefined
  /** Where the name began, from the start of the event's data. */
  #offset = 0

  constructor(names: readonly string[]) {
    this.#names = names.map((name) => Buffer.from(`"${name}"`))
  }

  /** Offset of the text's first character; -1 when there is none. Of several texts in an event one is found. */
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

/** Offset behind the quote that opens a member's value; -1 when the value is no string. */
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
