/**
 * DESIGN: literals that a text must contain for an expression to match.
 *
 * Purpose: with hundreds of expressions, nearly none of which match, a search for a few letters rejects a text a
 * hundred times faster than the engine. `\b(select|insert)\b[\s\S]{0,200}\bfrom\b` needs `select` or `insert`, which
 * suffices.
 *
 * The expression is read from left to right. A sequence needs the part whose shortest literal is longest, alternatives
 * need all together. An unsupported construct needs nothing, which is always correct: then the engine runs. Guarantee,
 * held by a property test: a text that matches contains one of the literals.
 */

/** Lower-case literals, one of which a matching text contains in lower case; `undefined` when none is known. */
export type Literals = readonly string[] | undefined

/** Parses an expression that the engine has accepted. */
export function requiredLiterals(source: string): Literals {
  try {
    const reader = new Reader(source)
    return reader.alternatives()
  } catch (error) {
    if (error instanceof NotUnderstood) return undefined
    throw error
  }
}

class NotUnderstood extends Error {}

const GROUP_START = /\((?:\?(?:P?<\w+>|[a-zA-Z]*(?:-[a-zA-Z]+)?:))?(?!\?)/y
const FLAGS = /\(\?[a-zA-Z]*(?:-[a-zA-Z]+)?\)/y
const QUANTIFIER = /(?:([*?])|(\+)|\{(\d+)(?:,\d*)?\})\??/y
const CLASS = /\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]|\.|\\[dDsSwW]|\\[pP](?:\{[^}]*\}|\w)/y
const EMPTY = /\^|\$|\\[bBAz]/y
const LITERAL = /\\([^\w\s])|([\w\s!"#%&',\-/:;<=>@`~])/y

class Reader {
  readonly #source: string
  #at = 0

  constructor(source: string) {
    this.#source = source
  }

  /** Parses up to a closing bracket or the end. */
  alternatives(): Literals {
    const found = [this.#sequence()]
    while (this.#source[this.#at] === '|') {
      this.#at++
      found.push(this.#sequence())
    }
    return found.every((literals) => literals !== undefined) ? found.flat() : undefined
  }

  #sequence(): Literals {
    let best: Literals
    let run = ''
    const offer = (literals: Literals) => {
      if (weightOf(literals) > weightOf(best)) best = literals
    }
    const endRun = () => {
      if (run !== '') offer([run])
      run = ''
    }
    while (this.#at < this.#source.length && !/[|)]/.test(this.#source[this.#at] ?? '')) {
      const letter = this.#take(LITERAL)
      if (letter !== undefined) {
        const character = (letter[1] ?? letter[2] ?? '').toLowerCase()
        const quantity = this.#quantity()
        if (quantity !== 'optional') run += character
        if (quantity !== 'once') endRun()
        // An optional letter separates the literals before and behind it.
        continue
      }
      endRun()
      const literals = this.#other()
      if (this.#quantity() !== 'optional') offer(literals)
    }
    endRun()
    return best
  }

  /** Parses one item that is not a letter. */
  #other(): Literals {
    if (this.#take(FLAGS) ?? this.#take(EMPTY) ?? this.#take(CLASS)) return undefined
    if (this.#take(GROUP_START) === undefined) throw new NotUnderstood()
    const literals = this.alternatives()
    this.#at++
    return literals
  }

  #quantity(): 'once' | 'optional' | 'repeated' {
    const found = this.#take(QUANTIFIER)
    if (found === undefined) return 'once'
    return found[1] !== undefined || Number(found[3] ?? 1) === 0 ? 'optional' : 'repeated'
  }

  #take(expression: RegExp): RegExpExecArray | undefined {
    expression.lastIndex = this.#at
    const found = expression.exec(this.#source) ?? undefined
    if (found !== undefined) this.#at = expression.lastIndex
    return found
  }
}

/** Returns the length of the shortest literal: the shorter, the more texts contain it. */
function weightOf(literals: Literals): number {
  return literals === undefined ? 0 : Math.min(...literals.map(({ length }) => length))
}
