import type { SharingScope } from 'turnpike/plugin'
import { lexicalEmbedder } from '../../plugins/semantic-cache/embedders/lexical.ts'
import { lookUp } from '../../plugins/semantic-cache/lookup.ts'
import { Scopes } from '../../plugins/semantic-cache/scopes.ts'
import { lehmer } from './random.ts'
import { identityOf, type Parts, scopeOfParts } from './scope-parts.ts'

/** What a fuzz came to. */
export interface FuzzCounts {
  /** Different identities that were drawn. */
  scopes: number
  /** Answers from a text of the same identity. */
  hits: number
  /** Answers from a text of another identity: must be none. */
  crossings: number
}

const MOST_ENTRIES = 20_000
const TEXTS = ['Where is the key?', 'Where is the lid?'].flatMap((text) => [
  text,
  text.toLowerCase(),
  `Please tell me: ${text}`,
  `${text} Thanks!`,
])
const SMALL = ['a', 'b', 'a b', '']
const SHARINGS: readonly SharingScope[] = ['key', 'user', 'shared']
/** Texts are few, so each is embedded once. */
const VECTORS: ReadonlyMap<string, Int8Array> = new Map(TEXTS.map((text) => [text, lexicalEmbedder.embed(text)]))
const EMBEDDER = { ...lexicalEmbedder, embed: (text: string) => VECTORS.get(text) ?? lexicalEmbedder.embed(text) }

/**
 * Sends requests of random tenants, models, systems, tools, turns and parameters through the real scopes and the real
 * lookup. Each entry is named for who it belongs to, so that an answer from elsewhere is seen. The same seed does the same.
 */
export async function fuzzScopes(steps: number, seed: number): Promise<FuzzCounts> {
  const draw = lehmer(seed)
  const scopes = new Scopes(lexicalEmbedder.dimensions, MOST_ENTRIES)
  const identities = new Set<string>()
  const counts = { hits: 0, crossings: 0 }
  const { signal } = new AbortController()
  for (let step = 0; step < steps; step++) {
    const parts = drawParts(draw)
    const text = pick(TEXTS, draw)
    const [scope, identity] = [scopeOfParts(parts, text), identityOf(parts)]
    identities.add(identity)
    const asked = {
      text,
      normalised: text,
      literalReason: undefined,
      mode: { kind: 'strict' },
      nowMs: 0,
      signal,
    } as const
    const { found, vector } = await lookUp(scopes.get(scope), EMBEDDER, asked)
    if (found === undefined) scopes.add(scope, { id: identity, text, storedAtMs: 0, expiresAtMs: 1 }, vector)
    else if (found.entry.id === identity) counts.hits++
    else counts.crossings++
  }
  return { scopes: identities.size, ...counts }
}

function drawParts(draw: () => number): Parts {
  const some = () => (draw() % 3 === 0 ? [pick(SMALL, draw)] : [])
  return {
    tenant: pick(['key:a', 'key:b'], draw),
    provider: pick(['anthropic', 'bedrock'], draw),
    model: pick(['m', 'n'], draw),
    system: draw() % 2 === 0 ? null : pick(SMALL, draw),
    tools: some(),
    turns: some(),
    temperature: pick([null, 0, 0.5], draw),
    topP: pick([null, 0.5], draw),
    beta: pick(['', 'x'], draw),
    embedder: pick(['one', 'two'], draw),
    sharing: pick(SHARINGS, draw),
  }
}

/** One of a list that is not empty. */
function pick<Value>(list: readonly Value[], draw: () => number): Value {
  return list[draw() % list.length] as Value
}
