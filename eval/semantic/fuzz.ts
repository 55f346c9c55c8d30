import type { SharingScope } from 'turnpike/plugin/cache'
import { formOf } from '../../plugins/semantic-cache/form.ts'
import { keyOf } from '../../plugins/semantic-cache/key.ts'
import { lehmer } from './random.ts'
import { identityOf, type Parts, scopeOfParts } from './scope-parts.ts'

/** Counts of a fuzz run. */
export interface FuzzCounts {
  /** Distinct identities that were drawn. */
  scopes: number
  /** Hits from a text of the same identity. */
  hits: number
  /** Hits from a text of another identity: must be 0. */
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
const LIMITS = { maxWords: 400 }

/**
 * Sends requests of random scopes, models, systems, tools, turns and parameters through the real keys. Each answer
 * names its identity, so that a crossing is detected. Deterministic by seed.
 */
export function fuzzScopes(steps: number, seed: number): FuzzCounts {
  const draw = lehmer(seed)
  const answers = new Map<string, string>()
  const identities = new Set<string>()
  const counts = { hits: 0, crossings: 0 }
  for (let step = 0; step < steps; step++) {
    const parts = drawParts(draw)
    const text = pick(TEXTS, draw)
    const [scope, identity] = [scopeOfParts(parts, text), identityOf(parts)]
    identities.add(identity)
    const key = keyOf(scope, formOf(text, LIMITS).form)
    const found = answers.get(key)
    if (found === undefined) answers.set(key, identity)
    else if (found === identity) counts.hits++
    else counts.crossings++
    const [oldest] = answers.keys()
    if (answers.size > MOST_ENTRIES && oldest !== undefined) answers.delete(oldest)
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
    sharing: pick(SHARINGS, draw),
  }
}

/** Picks an element of a non-empty list. */
function pick<Value>(list: readonly Value[], draw: () => number): Value {
  return list[draw() % list.length] as Value
}
