import type { Clock, Log } from 'turnpike/plugin'
import type { Embedder } from '../embedder.ts'
import { lexicalEmbedder } from './lexical.ts'
import type { EmbedderOptions } from './options.ts'

/** Services that embedders need. */
export interface EmbedderServices {
  readonly clock: Clock
  readonly log: Log
}

/** Creates the configured embedder; dependencies of the other one are not loaded. */
export async function createEmbedder(options: EmbedderOptions, { clock, log }: EmbedderServices): Promise<Embedder> {
  const { embedder, embedder_budget: budgetMs, remote } = options
  if (embedder === 'lexical') return lexicalEmbedder
  const { createRemoteEmbedder } = await import('./remote/embedder.ts')
  const named = { ...remote, url: needed(remote.url), model: needed(remote.model) }
  return createRemoteEmbedder({ options: named, budgetMs, clock, log })
}

/** Asserts a value that the schema guarantees. */
function needed(value: string | undefined): string {
  if (value === undefined) throw new Error('an option of the embedder is missing')
  return value
}
