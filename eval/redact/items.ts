import { createRandom, type Random } from '../loops/random.ts'
import { PERSONS } from './person-values.ts'
import { ASSIGNMENTS, CONNECTIONS, type Makers, SECRETS } from './secret-values.ts'

/** A text with one value, or with a look-alike of it. */
export interface Item {
  readonly kind: string
  readonly isValue: boolean
  readonly text: string
  /** Place of the value or look-alike in the text. */
  readonly start: number
  readonly end: number
}

/** A part of the set: `tuned` was seen while the detectors were written, `held-out` was not. */
export interface Part {
  readonly name: string
  readonly seed: number
  readonly carriers: readonly string[]
}

const MAKERS: Readonly<Record<string, Makers>> = { ...SECRETS, ...PERSONS }
/** All kinds of the set. */
export const EVALUATED_KINDS: readonly string[] = Object.keys(MAKERS)

const TUNED = [
  '%s',
  'Please use %s for this.',
  'const value = "%s"',
  '{"note": "%s", "n": 1}',
  'Here it is: %s\nThanks!',
  '2026-11-20T10:00:00Z INFO got %s from upstream',
  '| id | %s | 3 |',
  "f('%s')",
]
const HELD_OUT = [
  'I found `%s` in the file.',
  '<td>%s</td>',
  '- field: %s',
  'see (%s), and tell me more',
  String.raw`{\"cmd\": \"echo %s\"}`,
  'a,b,%s,c',
  '« %s »',
  '  42\t%s\n  43\tend',
  'Ist das richtig? %s',
]

/** Both parts. */
export const PARTS: readonly Part[] = [
  { name: 'tuned', seed: 1, carriers: TUNED },
  { name: 'held-out', seed: 20_011, carriers: HELD_OUT },
]

/** Size of a part, and what is added to its seed. */
export interface Sample {
  readonly count: number
  readonly offset: number
}

/** Makes `count` items of each kind with a value, and as many look-alikes. */
export function makeItems({ seed, carriers }: Part, { count, offset }: Sample): Item[] {
  return EVALUATED_KINDS.flatMap((kind, k) => {
    const random = createRandom(seed + k + offset)
    return Array.from({ length: 2 * count }, (_, i) => makeItem(random, { kind, isValue: i % 2 === 0, carriers }))
  })
}

function makeItem(
  random: Random,
  { kind, isValue, carriers }: { kind: string; isValue: boolean; carriers: readonly string[] },
): Item {
  const makers = MAKERS[kind]
  if (makers === undefined) throw new Error(`no makers of ${kind}`)
  const value = random.pick(isValue ? makers.values : makers.lookAlikes)(random)
  const text = random.pick(carriers).replace('%s', () => inPlace(random, kind, isValue ? value : undefined) ?? value)
  const start = text.indexOf(value)
  return { kind, isValue, text, start, end: start + value.length }
}

/** Returns the statement or address around a value that is none alone. */
function inPlace(random: Random, kind: string, value: string | undefined): string | undefined {
  if (value === undefined) return undefined
  if (kind === 'connection') return random.pick(CONNECTIONS)(random, value)
  return kind === 'secret' ? random.pick(ASSIGNMENTS).replace('%s', () => value) : undefined
}
