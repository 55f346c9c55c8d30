const QUOTE = 34
const OPEN_BRACKET = 91
const BACKSLASH = 92
const CLOSE_BRACKET = 93
const OPEN_BRACE = 123
const CLOSE_BRACE = 125
const SPACE = 32

/**
 * Progress of JSON text in pieces: only white space, inside an object, at its end, beyond it (`excess`), or in
 * a value that is no object.
 */
type Progress = 'blank' | 'inside' | 'whole' | 'excess' | 'other'

/**
 * Follows the pieces of a JSON object to its end without keeping them: each character is read once, whatever the
 * pieces. It counts braces and brackets and does not check the rest.
 */
export class ObjectProgress {
  #state: Progress = 'blank'
  #depth = 0
  #isInString = false
  #isEscaped = false

  get state(): Progress {
    return this.#state
  }

  /** Reads the next piece. */
  take(piece: string): void {
    for (let at = 0; at < piece.length; at++) {
      const code = piece.charCodeAt(at)
      if (this.#state === 'inside') this.#step(code)
      else if (code > SPACE) this.#leaveBlank(code)
    }
  }

  #leaveBlank(code: number): void {
    if (this.#state === 'whole') this.#state = 'excess'
    if (this.#state !== 'blank') return
    this.#state = code === OPEN_BRACE ? 'inside' : 'other'
    this.#depth = 1
  }

  #step(code: number): void {
    if (this.#isEscaped) this.#isEscaped = false
    else if (this.#isInString) {
      if (code === BACKSLASH) this.#isEscaped = true
      else if (code === QUOTE) this.#isInString = false
    } else if (code === QUOTE) this.#isInString = true
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) this.#depth++
    else if ((code === CLOSE_BRACE || code === CLOSE_BRACKET) && --this.#depth === 0) this.#state = 'whole'
  }
}
