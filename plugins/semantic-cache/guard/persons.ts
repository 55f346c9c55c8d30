import type { Frame, FrameKind } from './frame.ts'

/** Who and what a prompt points at besides its words: these turn a question without being its content. */
export interface Persons {
  /** `you`, `he`, `she` and `me` as an object, each once, sorted. The asker who does something (`how do I`) is nobody. */
  readonly others: string
  /** Who comes first, asker or asked, and who then: `iu` for `what may I call you`, `ui` for `what will you call me`. */
  readonly roles: string
  /** Whether `my` may be left out: `how do I clean my flute` is asked of any flute. */
  readonly isImpersonal: boolean
  /** Whether it is about the asker's own things. */
  readonly isOwn: boolean
  /** Whether it is about things of others. */
  readonly isOthers: boolean
  /** `this`, `these`, `those`: something that is not in the text. */
  readonly isPointing: boolean
}

const OWN = /\b(?:my|mine|our|ours)\b/i
const OTHERS = /\b(?:their|theirs|them)\b/i
const POINTING = /\b(?:this|these|those)\b/i
const GENERIC_YOU = /\b(?:you|u|one|someone|people)$/
/** Not `us`. */
const COUNTRY = /\bUS\b/g
const WORD_ENDS = /[^\p{L}\p{N}]+/u

const PERSONS: ReadonlyMap<string, string> = new Map([
  ...['your', 'yours', 'yourself'].map((word) => [word, 'you'] as const),
  ...['his', 'him', 'himself'].map((word) => [word, 'he'] as const),
  ...['her', 'hers', 'herself'].map((word) => [word, 'she'] as const),
  ...['me', 'us'].map((word) => [word, 'me'] as const),
])
const ROLES: ReadonlyMap<string, string> = new Map([
  ...['i', 'me', 'my', 'mine', 'myself'].map((word) => [word, 'i'] as const),
  ...['you', 'u', 'your', 'yours', 'yourself'].map((word) => [word, 'u'] as const),
])
/** Kinds in which `you`, `I` and `one` all mean whoever does it. */
const IMPERSONAL: ReadonlySet<FrameKind> = new Set(['how', 'amount', 'task', 'bare'])

/** Finds the persons of a prompt. `text` is the whole of it, without courtesies or with. */
export function personsOf(text: string, { kind, opening, rest }: Frame): Persons {
  const isImpersonal = IMPERSONAL.has(kind)
  // Where `you` is whoever does it, `your` is his own.
  const isGeneric = isImpersonal && GENERIC_YOU.test(opening)
  const words = rest.replace(COUNTRY, '').toLowerCase().split(WORD_ENDS)
  const others = words.flatMap((word) => PERSONS.get(word) ?? []).filter((person) => !(isGeneric && person === 'you'))
  return {
    others: [...new Set(others)].sort().join(' '),
    roles: isImpersonal ? '' : rolesOf([...opening.split(WORD_ENDS), ...words]),
    isImpersonal,
    isOwn: OWN.test(text) || (isGeneric && words.some((word) => PERSONS.get(word) === 'you')),
    isOthers: OTHERS.test(text),
    isPointing: POINTING.test(rest),
  }
}

function rolesOf(words: readonly string[]): string {
  return [...new Set(words.flatMap((word) => ROLES.get(word) ?? []))].join('')
}

/** Whether two prompts are about other persons: `your` here and not there, `my` and `their`, `I … you` and `you … I`. */
export function areOthers(one: Persons, other: Persons): boolean {
  const isOwnAndOthers = (a: Persons, b: Persons) => a.isOwn && !a.isOthers && !b.isOwn && b.isOthers
  const areExchanged = one.roles !== other.roles && one.roles.length === other.roles.length
  const isOneOwn = !one.isImpersonal && one.isOwn !== other.isOwn
  return (
    one.others !== other.others || areExchanged || isOneOwn || isOwnAndOthers(one, other) || isOwnAndOthers(other, one)
  )
}
