import type { Clock, Log } from 'turnpike/plugin'
import type { Embedder } from '../embedder.ts'
import { lexicalEmbedder } from './lexical.ts'
import type { EmbedderOptions } from './options.ts'

/** Services that embedders need. */
export interface EmbedderServices {
  readonly clock: Clock
  readonly log: Log
}

/**
 * Makes the embedder that the operator has chosen; what the other one needs is not loaded.
 */
export async function createEmbedder(options: EmbedderOptions, { clock, log }: EmbedderServices): Promise<Embedder> {
  const { embedder, embedder_budget: budgetMs, remote } = options
  if (embedder === 'lexical') return lexicalEmbedder
  const { createRemoteEmbedder } = await import('./remote/embedder.ts')
  const named = { ...remote, url: needed(remote.url), model: needed(remote.model) }
  return createRemoteEmbedder({ options: named, budgetMs, clock, log })
}

/** The schema has seen to it already. */
function needed(value: string | undefined): string {
  if (value === undefined) throw new Error('an option of the embedder is missing')
  return value
}
