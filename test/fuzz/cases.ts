import fc from 'fast-check'
import type { FuzzCase, Fuzzer } from './fuzzer.ts'

/** No case is longer, in bytes: what is slow at this length would stop a process at the body limit. */
const LONGEST = 16 * 1024
const MOST_MUTATIONS = 6
const MOST_REPEATS = 4096
/** Bytes that end, begin or escape something in most formats, and those that are no UTF-8. */
const SHARP = '\0\t\n\r "\'\\{}[](),:;=&%?#.|-_+*/<>!~0129eEnu\x7f\x80\xbf\xc0\xe2\xed\xf0\xff'

/** A change of a text: what, where, how much, and with which piece. Places are taken modulo what there is. */
type Mutation = readonly [kind: number, at: number, length: number, piece: number]

type Mutate = (text: string, place: { at: number; end: number; piece: number; words: readonly string[] }) => string

const KINDS: readonly Mutate[] = [
  (text, { at, end }) => text.slice(0, at) + text.slice(end),
  (text, { at }) => text.slice(0, at),
  (text, { at, end }) => text.slice(0, end) + text.slice(at),
  (text, { at, piece, words }) => text.slice(0, at) + words[piece % words.length] + text.slice(at),
  (text, { at, end, piece, words }) => text.slice(0, at) + words[piece % words.length] + text.slice(end),
  (text, { at, piece }) => text.slice(0, at) + SHARP[piece % SHARP.length] + text.slice(at + 1),
  (text, { at, piece }) => text.slice(0, at) + SHARP[piece % SHARP.length] + text.slice(at),
  (text, { at, piece }) =>
    text.slice(0, at) + String.fromCharCode((text.charCodeAt(at) || 0) ^ (1 << (piece % 8))) + text.slice(at + 1),
  (text, { at, end, piece }) =>
    text.slice(0, at) + text.slice(at, end).repeat(piece % (piece % 16 === 0 ? MOST_REPEATS : 16)) + text.slice(end),
  (text, { at, end, piece }) => {
    const rest = text.slice(0, at) + text.slice(end)
    const to = piece % (rest.length + 1)
    return rest.slice(0, to) + text.slice(at, end) + rest.slice(to)
  },
]

/** The text after its mutations. */
function mutate(text: string, mutations: readonly Mutation[], words: readonly string[]): string {
  let mutated = text
  for (const [kind, place, length, piece] of mutations) {
    const at = place % (mutated.length + 1)
    const end = Math.min(at + length, mutated.length)
    mutated = KINDS[kind]?.(mutated, { at, end, piece, words }).slice(0, LONGEST) ?? mutated
  }
  return mutated
}

const mutation = fc.tuple(
  fc.nat(KINDS.length - 1),
  fc.nat(),
  fc.oneof({ arbitrary: fc.nat(12), weight: 3 }, { arbitrary: fc.nat(400), weight: 1 }),
  fc.nat(),
)

/** Well-formed inputs that a batch of cases is made from: they cost more to make than to mutate. */
const SEEDS_IN_A_BATCH = 400

/** Cases of a fuzzer: its seeds and the kept inputs, as they are or with a few mutations. Another `seed`, other seeds. */
export function casesOf(fuzzer: Fuzzer, kept: readonly string[], seed: number): fc.Arbitrary<FuzzCase> {
  const { seeds, words, mostMutations = MOST_MUTATIONS } = fuzzer
  const fresh = fc.constantFrom(...fc.sample(seeds, { numRuns: SEEDS_IN_A_BATCH, seed }))
  const start = kept.length === 0 ? fresh : fc.oneof({ arbitrary: fresh, weight: 3 }, fc.constantFrom(...kept))
  const mutations = fc.array(mutation, { maxLength: mostMutations })
  return fc
    .tuple(start, mutations, fc.nat())
    .map(([text, list, salt]) => ({ text: mutate(text.slice(0, LONGEST), list, words), salt }))
}
