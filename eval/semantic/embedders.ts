import type { Embedder } from '../../plugins/semantic-cache/embedder.ts'
import { lexicalEmbedder } from '../../plugins/semantic-cache/embedders/lexical.ts'

/** Loaders of the embedders that can be measured, by name. */
const EMBEDDERS: Readonly<Record<string, () => Embedder | Promise<Embedder>>> = {
  lexical: () => lexicalEmbedder,
  'use-lite': async () => (await import('../../test/witnesses/use-lite.ts')).createUseLiteEmbedder(),
}

/**
 * Loads an embedder with memoised vectors, since simulations repeat texts. Throws with the known names for an unknown
 * one.
 */
export async function embedderOf(name: string): Promise<Embedder> {
  const load = EMBEDDERS[name]
  if (load === undefined)
    throw new Error(`Expected --embedder to be ${Object.keys(EMBEDDERS).join(' or ')}, got ${name}.`)
  return remembering(await load())
}

function remembering({ dimensions, embed }: Embedder): Embedder {
  const vectors = new Map<string, Int8Array>()
  return {
    dimensions,
    async embed(text, signal) {
      const vector = vectors.get(text) ?? (await embed(text, signal))
      vectors.set(text, vector)
      return vector
    },
  }
}
