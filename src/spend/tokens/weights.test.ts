import test from 'ava'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { unitsOfJson, unitsOfText } from './text-units.ts'
import { UNITS_PER_TOKEN } from './weights.ts'

/** First and last code points of scripts, common and rare, and of symbols. */
const SCRIPTS: Readonly<Record<string, readonly [first: number, last: number]>> = {
  'lower case': [0x61, 0x7a],
  'upper case': [0x41, 0x5a],
  digits: [0x30, 0x39],
  punctuation: [0x21, 0x2f],
  'spaces and tabs': [0x09, 0x0a],
  Latin: [0xe0, 0x17f],
  'combining marks': [0x300, 0x36f],
  Greek: [0x3b1, 0x3c9],
  Cyrillic: [0x410, 0x44f],
  'rare Cyrillic': [0x460, 0x52f],
  Armenian: [0x561, 0x586],
  Hebrew: [0x5d0, 0x5ea],
  Arabic: [0x627, 0x64a],
  Syriac: [0x710, 0x72f],
  'N’Ko': [0x7c0, 0x7ea],
  Hindi: [0x904, 0x939],
  Sinhala: [0xd85, 0xd96],
  Thai: [0xe01, 0xe2e],
  Lao: [0xe94, 0xeae],
  Tibetan: [0xf49, 0xf6c],
  Georgian: [0x10d0, 0x10f0],
  Ethiopic: [0x1200, 0x1246],
  symbols: [0x2010, 0x2027],
  mathematics: [0x2200, 0x22ff],
  Japanese: [0x3041, 0x3096],
  'rare Chinese': [0x3400, 0x4dbf],
  Chinese: [0x4e00, 0x9fff],
  Yi: [0xa000, 0xa48c],
  Vai: [0xa500, 0xa60c],
  Korean: [0xac00, 0xd7a3],
  'private use': [0xe000, 0xf8ff],
  'Arabic forms': [0xfb50, 0xfbb1],
  'full width': [0xff01, 0xff5e],
  emoji: [0x1f600, 0x1f64f],
  'Chinese of four bytes': [0x20000, 0x2a6df],
}
const WORDS = [1, 2, 3, 5, 7, 11, 1000]
const LEAST = 0.2
const LETTERS = 1500

for (const [name, [first, last]] of Object.entries(SCRIPTS)) {
  test(`token weights: ${name} at random weigh a fifth of their tokens or more, escaped or not`, (t) => {
    for (const length of WORDS) {
      const text = lettersOf(first, last, length)
      const tokens = countTokens(text)
      const plain = unitsOfText(Buffer.from(text)) / UNITS_PER_TOKEN
      t.true(plain >= LEAST * tokens, `words of ${length}: ${plain} for ${tokens}`)
      const json = Buffer.from(escaped(text))
      const units = unitsOfJson(json, 0, json.length) / UNITS_PER_TOKEN
      t.true(units >= LEAST * tokens, `words of ${length}, escaped: ${units} for ${tokens}`)
    }
  })
}

/** Generates words of letters without order, deterministically. */
function lettersOf(first: number, last: number, wordLength: number): string {
  let text = ''
  let state = 1
  for (let i = 1; i <= LETTERS; i++) {
    state = (state * 48_271) % 2_147_483_647
    text += String.fromCodePoint(first + (state % (last - first + 1)))
    if (i % wordLength === 0) text += ' '
  }
  return text
}

function escaped(text: string): string {
  return text.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
