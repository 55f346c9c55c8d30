/**
 * DESIGN: the weight of a text, as a machine of 70 states.
 *
 * Purpose: a tokenizer splits a text into words, runs of digits and runs of symbols, and longer or rarer ones further. So
 * the weight of a byte depends on its class and on the run that it continues or ends. A state is such a run and its
 * length; a table gives for each state and class the byte's weight and the next state:
 *
 *     " return x+1;\n"     ␣ 31   r 40   e 9  t 9 …   ␣ 31   x 40   + 71   1 114   ; 76   \n 7
 *
 * Guarantees: no step has a negative weight, so a longer text never weighs less; one table look-up per byte, without
 * branches, so the time is linear. Any text, even one of no language (random letters, rare scripts), weighs a
 * fifth of its o200k tokens or more: a run longer than the words of any language weighs by the letter.
 * Origin: weights in hundredths of an o200k token, fitted by least squares (none negative) to 1,900 pieces of up to
 * 1,500 characters of 30 kinds: prose, code in three languages, logs, tool results, JSON, ids, a dozen languages. Over a
 * kind they are 0–6 % off, 0–21 % for languages other than English; over held-out pieces, up to 10 %. Those of
 * overlong runs and rare scripts are set by hand, by the tokens of such random letters.
 * Other tokenizers differ from o200k by a factor, which `families.ts` contains and the estimator learns.
 */
import {
  ALPHABET,
  CLASSES,
  CONTINUATION,
  CONTINUATION_B0,
  CONTINUATION_BA,
  CONTROL,
  DIGIT,
  EMOJI,
  FULL_WIDTH,
  HANGUL,
  HANGUL_OR_RARE,
  IDEOGRAPH,
  INDIC,
  LATIN,
  LOW_SURROGATE,
  LOWER,
  NEWLINE,
  PUNCTUATION,
  RARE_ALPHABET,
  RARE_SIGN,
  SPACE,
  SYMBOL,
  TAB,
  UPPER,
} from './byte-classes.ts'

/** Unit of the table: hundredths of a token before calibration. */
export const UNITS_PER_TOKEN = 100

/** Left shift of a step's weight, above its next state, which is that state’s row in the table. */
export const WEIGHT_SHIFT = 16
/** Mask of a step's next state. */
export const STATE_MASK = 0xffff
/** Initial state of every text. */
export const START = 0

/** The kinds of runs, and the number of distinct lengths of each; longer ones stay in the last. */
const RUNS = {
  start: 1,
  space: 2,
  tab: 1,
  newline: 1,
  lower: 12,
  upper: 12,
  digit: 3,
  sign: 4,
  latin: 1,
  alphabet: 14,
  indic: 1,
  indicStart: 1,
  symbol: 1,
  ideograph: 1,
  hangul: 1,
  hangulStart: 1,
  fullWidth: 1,
  emoji: 1,
  pair: 1,
  rare: 1,
} as const
type Kind = keyof typeof RUNS

/** Effect of a byte: the next run, the length there, and the weight. */
type Step = readonly [kind: Kind, length: number, weight: number]

// Of a lower-case word the 2nd to 5th letter, the 6th to 9th, the 10th and 11th, and the rest: seldom a known word.
const letterWeight = (length: number) => (length <= 5 ? 9 : length < 10 ? 1 : length < 12 ? 9 : 20)
const capitalWeight = (length: number) => (length < 4 ? 16 : length < 11 ? 3 : 50)
// o200k knows long Russian words, and few Greek ones; beyond those of any language it cuts nearly each letter.
const alphabetWeight = (length: number) => (length < 9 ? 2 : length < 13 ? 30 : 70)
const signWeight = (length: number) => [0, 0, 43, 9][length] ?? 22

/** Weight of the first letter of a word and the first digit or symbol of a run, by the state before it. */
const LOWER_AFTER = { start: 40, space: 40, tab: 40, fullWidth: 40, newline: 38, digit: 72, sign: 60 }
const UPPER_AFTER = { start: 72, space: 72, tab: 72, fullWidth: 72, newline: 160, lower: 115, digit: 104, sign: 68 }
const DIGIT_AFTER = { space: 196, tab: 196, lower: 138, upper: 138, sign: 114 }
/** Additional weight of the second byte of a character of Lao and Tibetan, of Yi and Vai. */
const RARE_MORE = 200
const SIGN_AFTER = { lower: 71, upper: 71, digit: 76 }

/** Scripts with several bytes per letter: weights of the first letter of a run, and of each further one. */
const SCRIPTS: readonly (readonly [byteClass: number, kind: Kind, first: number, next: number])[] = [
  [LATIN, 'latin', 130, 130],
  [RARE_ALPHABET, 'rare', 130, 100],
  [RARE_SIGN, 'rare', 200, 200],
  [SYMBOL, 'symbol', 94, 160],
  [IDEOGRAPH, 'ideograph', 100, 64],
  [FULL_WIDTH, 'fullWidth', 36, 150],
]

function stepFrom(kind: Kind, length: number, byteClass: number): Step {
  switch (byteClass) {
    case CONTINUATION:
    case CONTINUATION_B0:
    case CONTINUATION_BA:
      return continuationAfter(kind, length, byteClass)
    case LOWER:
      return lowerAfter(kind, length)
    case UPPER:
      return upperAfter(kind, length)
    case DIGIT:
      return digitAfter(kind, length)
    case PUNCTUATION:
      if (kind === 'sign') return ['sign', length + 1, signWeight(length + 1)]
      return ['sign', 1, weightAfter(SIGN_AFTER, kind, 71)]
    case EMOJI:
      return ['emoji', 1, kind === 'emoji' || kind === 'pair' ? 120 : 150]
    case LOW_SURROGATE:
      // The halves of a surrogate pair are one symbol; a lone half is a symbol by itself.
      return ['pair', 1, kind === 'emoji' ? 0 : 150]
    case SPACE:
      return spaceAfter(kind, length)
    case TAB:
      return tabAfter(kind)
    case ALPHABET:
      return kind === 'alphabet' ? ['alphabet', length + 1, alphabetWeight(length + 1)] : ['alphabet', 1, 130]
    case INDIC:
      return ['indicStart', 1, kind === 'indic' || kind === 'indicStart' ? 40 : 2]
    case HANGUL:
      return ['hangul', 1, hangulWeight(kind)]
    case HANGUL_OR_RARE:
      return ['hangulStart', 1, hangulWeight(kind)]
    case NEWLINE:
      return ['newline', 1, kind === 'newline' ? 2 : kind === 'sign' ? 7 : 97]
    case CONTROL:
      return ['start', 1, 164]
    default:
      return scriptAfter(kind, byteClass)
  }
}

function lowerAfter(kind: Kind, length: number): Step {
  if (kind === 'lower') return ['lower', length + 1, letterWeight(length + 1)]
  if (kind === 'upper') return ['lower', 2, length === 1 ? letterWeight(2) : 130]
  if (kind === 'latin') return ['lower', 4, 1]
  // A single symbol and the word after it are often one token, such as `.name`.
  if (kind === 'sign' && length === 1) return ['lower', 1, 53]
  return ['lower', 1, weightAfter(LOWER_AFTER, kind, 38)]
}

function upperAfter(kind: Kind, length: number): Step {
  if (kind === 'upper') return ['upper', length + 1, capitalWeight(length + 1)]
  if (kind === 'sign' && length === 1) return ['upper', 1, 95]
  return ['upper', 1, weightAfter(UPPER_AFTER, kind, 160)]
}

/** Weighs digits, which are split into threes. */
function digitAfter(kind: Kind, length: number): Step {
  if (kind !== 'digit') return ['digit', 1, weightAfter(DIGIT_AFTER, kind, 66)]
  return length === RUNS.digit ? ['digit', 1, 101] : ['digit', length + 1, 0]
}

/** Weighs spaces: one belongs to the next word; a run of them is a token or two, of any length. */
function spaceAfter(kind: Kind, length: number): Step {
  if (kind === 'newline') return ['space', 1, 0]
  if (kind === 'tab') return ['space', 1, 45]
  if (kind !== 'space') return ['space', 1, 31]
  return ['space', 2, length === 1 ? 92 : 5]
}

/** Weighs tabs: a change between spaces and tabs is another token. */
function tabAfter(kind: Kind): Step {
  if (kind === 'newline') return ['tab', 1, 0]
  return ['tab', 1, kind === 'tab' ? 5 : kind === 'space' ? 45 : 31]
}

function hangulWeight(kind: Kind): number {
  return kind === 'hangul' || kind === 'hangulStart' ? 49 : 60
}

function continuationAfter(kind: Kind, length: number, byteClass: number): Step {
  if (kind === 'indicStart') return ['indic', 1, byteClass === CONTINUATION_BA ? RARE_MORE : 0]
  if (kind === 'hangulStart') return ['hangul', 1, byteClass === CONTINUATION ? RARE_MORE : 0]
  return [kind, length, 0]
}

function scriptAfter(kind: Kind, byteClass: number): Step {
  for (const [script, run, first, next] of SCRIPTS) {
    if (script === byteClass) return [run, 1, kind === run ? next : first]
  }
  return [kind, 1, 0] // no byte has such a class
}

function weightAfter(weights: Partial<Record<Kind, number>>, kind: Kind, otherwise: number): number {
  return weights[kind] ?? otherwise
}

let steps: Int32Array | undefined

/** Returns the table: for each state (a multiple of 32) plus class the shifted weight and the next state. Computed for the first text. */
export function stepsByState(): Int32Array {
  steps ??= createSteps()
  return steps
}

function createSteps(): Int32Array {
  const kinds = Object.keys(RUNS) as Kind[] // safe: the keys of a constant
  const firstRows = new Map<Kind, number>()
  let rows = 0
  for (const kind of kinds) {
    firstRows.set(kind, rows)
    rows += RUNS[kind]
  }
  const rowOf = (kind: Kind, length: number) => (firstRows.get(kind) ?? 0) + Math.min(length, RUNS[kind]) - 1
  const steps = new Int32Array(rows * CLASSES)
  for (const kind of kinds) {
    for (let length = 1; length <= RUNS[kind]; length++) {
      for (let byteClass = 0; byteClass < CLASSES; byteClass++) {
        const [next, nextLength, weight] = stepFrom(kind, length, byteClass)
        steps[rowOf(kind, length) * CLASSES + byteClass] =
          (weight << WEIGHT_SHIFT) | (rowOf(next, nextLength) * CLASSES)
      }
    }
  }
  return steps
}
