import { PARTS, TABLE } from './frame-table.ts'

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

const REST = '…'
const ARROW = ' ⇒ '
const FRAMES: readonly Frame[] = TABLE.split('\n')
  .filter((line) => line.includes(ARROW))
  .map((line) => {
    const [source = '', form = ''] = line.slice(2).split(ARROW)
    const start = source.startsWith(REST) ? '' : '^'
    const end = source.endsWith(REST) ? '' : '$'
    return { pattern: new RegExp(start + filled(source.replaceAll(REST, '')) + end, 'u'), form: form.replace(REST, '') }
  })
const MOST_ROUNDS = 6

/** Returns the canonical phrasing of a text's frame. */
export function framed(text: string): string {
  let asked = text
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const before = asked
    for (const { pattern, form } of FRAMES)
      asked = asked.replace(pattern, (...groups: unknown[]) => formOf(form, groups))
    if (asked === before) break
  }
  return asked
}

/** Expands the parts of a pattern; `the` is optional wherever it occurs. */
function filled(source: string): string {
  return source
    .replace(/\{(\w+)\}/g, (whole, part: string) => PARTS[part] ?? whole)
    .replace(/(?<!\(\?:)\bthe /g, '(?:the )?')
}

const FUNCTION = /(sorted|base|asked|opposite)\(([^()]*)\)/g

function formOf(form: string, groups: readonly unknown[]): string {
  const given = form.replace(/\$(\d)/g, (_, place: string) => String(groups[Number(place)] ?? ''))
  return form.includes('(')
    ? given.replace(FUNCTION, (_, name: string, text: string) => FUNCTIONS[name]?.(text) ?? text)
    : given
}

const OFFICES = new RegExp(`^${PARTS.OFFICE}$`)
const OPPOSITES: Readonly<Record<string, string>> = {
  smaller: 'larger',
  younger: 'older',
  lighter: 'heavier',
  slower: 'faster',
  shorter: 'taller',
  cheaper: 'dearer',
  colder: 'hotter',
  weaker: 'stronger',
}
const FUNCTIONS: Readonly<Record<string, (text: string) => string>> = {
  sorted: (text) => text.split(' | ').sort().join(' and '),
  base: baseOf,
  asked: (text) => (OFFICES.test(text) ? 'who' : 'what'),
  opposite: (text) => OPPOSITES[text] ?? text,
}

const WITH_E =
  /^(?:mak|tak|chang|updat|delet|creat|us|clos|writ|giv|hav|mov|remov|sav|shar|driv|bak|receiv|renam|replac|execut|configur|migrat|activat|deactivat|purchas|upgrad|rot|compil|pars|schedul|enabl|disabl|exchang|manag|arrang|prepar|subscrib|unsubscrib|decreas|increas|reduc|calculat|validat|generat|merg|serv|stor|cach|encod|decod|wip|typ)$/
const DOUBLED = /([bdgmnprt])\1$/

/**
 * Returns the base of a gerund: `canceling` becomes `cancel`. An unknown gerund becomes no word, and matches no other
 * text.
 */
function baseOf(gerund: string): string {
  const root = gerund.slice(0, -'ing'.length)
  if (WITH_E.test(root)) return `${root}e`
  return DOUBLED.test(root) ? root.slice(0, -1) : root
}
