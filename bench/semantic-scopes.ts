/**
 * Size from which on a graph is quicker than a scan: `node --expose-gc bench/semantic-scopes.ts [entries …]`. Texts
 * resemble a help desk's. Both are searched for the same vectors; the scan shows how many neighbours the graph finds.
 */
import { createGraph } from '../plugins/semantic-cache/candidates/graph.ts'
import { dot } from '../plugins/semantic-cache/candidates/scope-candidates.ts'
import { lexicalEmbedder } from '../plugins/semantic-cache/embedders/lexical.ts'

const SIZES = process.argv.slice(2).map(Number)
const SEARCHES = 300
const NEAREST = 5
const VERBS = 'renew cancel change return track repair install update delete export import share print move book'.split(
  ' ',
)
const THINGS =
  'passport order invoice parcel printer router account licence ticket garden kettle violin boat ladder lamp'.split(' ')
const PLACES =
  'Berlin Oslo Madrid Lisbon Vienna Prague Dublin Athens Warsaw Helsinki Rome Paris London Zurich Riga'.split(' ')

/** Returns a text that differs for each number below some 600,000. */
function textOf(n: number): string {
  const pick = (words: readonly string[], divisor: number) => words[Math.floor(n / divisor) % words.length]
  return `How do I ${pick(VERBS, 1)} the ${pick(THINGS, 15)} from ${pick(PLACES, 225)} that I have had in ${pick(PLACES, 3375)} since ${1900 + (n % 97)} with the ${pick(THINGS, 50_625)}?`
}

function msOf(work: () => void): number {
  const startedMs = performance.now()
  work()
  return performance.now() - startedMs
}

const median = (times: number[]) => (times.sort((a, b) => a - b)[times.length >> 1] ?? 0).toFixed(3)

for (const size of SIZES.length > 0 ? SIZES : [250, 500, 1000, 2000, 10_000, 20_000]) {
  const vectors = Array.from({ length: size }, (_, n) => lexicalEmbedder.embed(textOf(n * 7)))
  const graph = createGraph(lexicalEmbedder.dimensions)
  if (graph === undefined) throw new Error('Expected hnswlib-node to be installed')
  const addMs = vectors.map((vector, label) => msOf(() => graph.add(label, vector)))
  const [scanMs, searchMs]: [number[], number[]] = [[], []]
  let found = 0
  for (let i = 0; i < SEARCHES; i++) {
    const vector = lexicalEmbedder.embed(textOf((i * 7919) % (size * 7)).replace('How do I', 'How can I'))
    let cosines: number[] = []
    scanMs.push(msOf(() => (cosines = vectors.map((other) => dot(vector, other)))))
    const least = cosines.toSorted((a, b) => b - a)[NEAREST - 1] ?? 0
    let labels: readonly number[] = []
    searchMs.push(msOf(() => (labels = graph.search(vector))))
    found += Math.min(NEAREST, labels.filter((label) => (cosines[label] ?? 0) >= least).length)
  }
  const share = ((100 * found) / (SEARCHES * NEAREST)).toFixed(1)
  console.log(
    `${size} entries: scan ${median(scanMs)} ms, graph ${median(searchMs)} ms (${share} % of neighbours), add ${median(addMs)} ms`,
  )
}
