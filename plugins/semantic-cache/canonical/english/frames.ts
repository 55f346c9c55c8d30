import { INDIRECT } from './courtesies.ts'
import { INDIRECT_TABLE, PARTS, TABLE } from './frame-table.ts'

/**
 * DESIGN — frames
 *
 *   what is the meaning of X ─┐
 *   what is meant by X ───────┼──► what does X mean
 *   define X ─────────────────┘
 *
 * Each frame maps a phrasing to its canonical form; its parts are unchanged and, unless the frame sorts them, in their
 * order. Texts are in lower case, without courtesies and closing marks; a placeholder replaces each protected piece.
 * Frames are tried in order, repeatedly until none changes the text.
 */
interface Frame {
  readonly pattern: RegExp
  readonly form: string
}

type Restore = (text: string) => string

const REST = '…'
const ARROW = ' ⇒ '
const FRAMES = framesOf(TABLE)
const INDIRECT_FRAMES = framesOf(INDIRECT_TABLE)
const MOST_ROUNDS = 6

/** Returns the canonical phrasing of a text's frame; `restore` returns the piece of a placeholder. */
export function framed(text: string, restore: Restore): string {
  let asked = withFrames(text, INDIRECT_FRAMES, restore).replace(INDIRECT, '')
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const before = asked
    asked = withFrames(asked, FRAMES, restore)
    if (asked === before) break
  }
  return asked
}

function withFrames(text: string, frames: readonly Frame[], restore: Restore): string {
  return frames.reduce(
    (asked, { pattern, form }) => asked.replace(pattern, (...groups: unknown[]) => formOf(form, groups, restore)),
    text,
  )
}

function framesOf(table: string): Frame[] {
  return table
    .split('\n')
    .filter((line) => line.includes(ARROW))
    .map((line) => {
      const [source = '', form = ''] = line.slice(2).split(ARROW)
      const start = source.startsWith(REST) ? '' : '^'
      const end = source.endsWith(REST) ? '' : '$'
      return {
        pattern: new RegExp(start + filled(source.replaceAll(REST, '')) + end, 'u'),
        form: form.replace(REST, ''),
      }
    })
}

/** Expands the parts of a pattern; `the` is optional wherever it occurs. */
function filled(source: string): string {
  return source
    .replace(/\{(\w+)\}/g, (whole, part: string) => PARTS[part] ?? whole)
    .replace(/(?<!\(\?:)\bthe /g, '(?:the )?')
}

const FUNCTION = /(sorted|asked|opposite)\(([^()]*)\)/g

function formOf(form: string, groups: readonly unknown[], restore: Restore): string {
  const given = form.replace(/\$(\d)/g, (_, place: string) => String(groups[Number(place)] ?? ''))
  return form.includes('(')
    ? given.replace(FUNCTION, (_, name: string, text: string) => FUNCTIONS[name]?.(text, restore) ?? text)
    : given
}

const OFFICES = new RegExp(`^${PARTS.OFFICE}$`)
const OPPOSITES: Readonly<Record<string, string>> = {
  smaller: 'bigger',
  younger: 'older',
  slower: 'faster',
  colder: 'hotter',
}
const FUNCTIONS: Readonly<Record<string, (text: string, restore: Restore) => string>> = {
  sorted,
  asked: (text) => (OFFICES.test(text) ? 'who' : 'what'),
  opposite: (text) => OPPOSITES[text] ?? text,
}

/** Matches a time or a day: from 9pm to 5am it is not as long as from 5am to 9pm. */
const MOMENT =
  /\d[:\d]*[ap]m\b|\d:\d|\b(?:noon|midnight|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|september|october|november|december)\b/i

/** Sorts two parts of as many words each; in `hot tea and coffee` an adjective may belong to both. */
function sorted(text: string, restore: Restore): string {
  const [one = '', other = ''] = text.split(' | ')
  const isSwapped =
    !MOMENT.test(restore(text)) && one.split(' ').length === other.split(' ').length && restore(other) < restore(one)
  return isSwapped ? `${other} and ${one}` : `${one} and ${other}`
}
