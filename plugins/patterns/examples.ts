/**
 * DESIGN: finding patterns by the similarity of their examples to a text.
 *
 * Every example is a small document. A text's score with it is the sum of two views, since either alone fails on one
 * kind of text: BM25 grows with the shared words, and so finds the example in a long text; the cosine measures the
 * shared part of both, and so finds it in a short one.
 *
 *     similarity = BM25 / 20 + cosine      score = similarity / (similarity + HALF), from 0 to 1
 *
 * Rare words weigh more. A few patterns are no sample of the language, so at least BACKGROUND documents are assumed, of
 * which COMMON contain words that are frequent in all requests. Words at the beginning of a text weigh up to half as
 * much again: the task is mostly there.
 *
 * Limits: words are compared, not meanings. It was tuned on the half of the data that `npm run eval:patterns` calls dev.
 */
import { COMMON_STEMS, stems } from './words.ts'

const K1 = 1.2
const B = 0.75
const BM25_SHARE = 20
/** Similarity whose score is one half, which unrelated texts rarely reach. */
const HALF = 1.08
const BACKGROUND = 200
const COMMON = 20
const REPEAT_WEIGHT = 0.4
const BEGINNING_WEIGHT = 0.5
const BEGINNING_WORDS = 10

/** Example with its owner and text. */
export interface Example {
  readonly owner: string
  readonly text: string
}

interface Posting {
  readonly document: number
  /** Weight of the word in the document, without its rarity. */
  readonly weight: number
}

interface Term {
  readonly rarity: number
  readonly postings: readonly Posting[]
}

/** Immutable inverted index over the examples of a set of patterns. */
export class ExampleIndex {
  readonly #owners: readonly string[]
  readonly #norms: Float64Array
  readonly #terms = new Map<string, Term>()
  readonly #unknownRarity: number
  readonly #commonRarity: number

  constructor(examples: readonly Example[]) {
    this.#owners = examples.map(({ owner }) => owner)
    const documents = examples.map(({ text }) => countsOf(stems(text)))
    const total = Math.max(BACKGROUND, new Set(this.#owners).size)
    this.#unknownRarity = rarityOf(0, total)
    this.#commonRarity = rarityOf(COMMON, total)
    for (const [word, postings] of postingsOf(documents)) {
      const owners = new Set(postings.map(({ document }) => this.#owners[document])).size
      this.#terms.set(word, { rarity: rarityOf(owners + (COMMON_STEMS.has(word) ? COMMON : 0), total), postings })
    }
    this.#norms = this.#normsOf(documents)
  }

  /** Returns the score of each owner that shares a word with the text: that of its best example, from 0 to 1. */
  scores(text: string): Map<string, number> {
    const { bm25, products, norm } = this.#compare(stems(text))
    const best = new Map<string, number>()
    for (const [document, share] of bm25) {
      const owner = this.#owners[document] ?? ''
      const cosine = (products.get(document) ?? 0) / (norm * (this.#norms[document] || 1))
      const similarity = share / BM25_SHARE + cosine
      best.set(owner, Math.max(best.get(owner) ?? 0, similarity / (similarity + HALF)))
    }
    return best
  }

  #compare(words: readonly string[]) {
    const bm25 = new Map<number, number>()
    const products = new Map<number, number>()
    let squares = 0
    for (const [word, { count, first }] of occurrencesOf(words)) {
      const term = this.#terms.get(word)
      const rarity = term?.rarity ?? this.#rarityOfUnknown(word)
      squares += rarity * rarity
      if (term === undefined) continue
      const emphasis =
        (1 + REPEAT_WEIGHT * Math.log(count)) * (1 + BEGINNING_WEIGHT * Math.exp(-first / BEGINNING_WORDS))
      for (const { document, weight } of term.postings) {
        bm25.set(document, (bm25.get(document) ?? 0) + rarity * weight * emphasis)
        products.set(document, (products.get(document) ?? 0) + rarity * rarity)
      }
    }
    return { bm25, products, norm: Math.sqrt(squares) || 1 }
  }

  #rarityOfUnknown(word: string): number {
    return COMMON_STEMS.has(word) ? this.#commonRarity : this.#unknownRarity
  }

  #normsOf(documents: readonly ReadonlyMap<string, number>[]): Float64Array {
    const squares = documents.map((counts) => [...counts.keys()].reduce((sum, word) => sum + this.#square(word), 0))
    return Float64Array.from(squares, Math.sqrt)
  }

  #square(word: string): number {
    return (this.#terms.get(word)?.rarity ?? 0) ** 2
  }
}

function rarityOf(documents: number, total: number): number {
  return Math.log(1 + Math.max(0, total - documents + 0.5) / (documents + 0.5))
}

function countsOf(words: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  return counts
}

/** Returns, by word, its count in the text and its first position. */
function occurrencesOf(words: readonly string[]): Map<string, { count: number; readonly first: number }> {
  const found = new Map<string, { count: number; readonly first: number }>()
  for (const [first, word] of words.entries()) {
    const known = found.get(word)
    if (known === undefined) found.set(word, { count: 1, first })
    else known.count++
  }
  return found
}

function postingsOf(documents: readonly ReadonlyMap<string, number>[]): Map<string, Posting[]> {
  const lengths = documents.map((counts) => [...counts.values()].reduce((sum, count) => sum + count, 0))
  const averageLength = lengths.reduce((sum, length) => sum + length, 0) / (documents.length || 1) || 1
  const postings = new Map<string, Posting[]>()
  for (const [document, counts] of documents.entries()) {
    const damping = K1 * (1 - B + (B * (lengths[document] ?? 0)) / averageLength)
    for (const [word, count] of counts) {
      const posting = { document, weight: (count * (K1 + 1)) / (count + damping) }
      const known = postings.get(word)
      if (known === undefined) postings.set(word, [posting])
      else known.push(posting)
    }
  }
  return postings
}
