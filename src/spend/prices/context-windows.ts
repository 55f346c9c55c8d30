import { LRUCache } from 'lru-cache'
import type { Target } from '../../core/request/exchange.ts'
import { openCatalogue } from './catalogue.ts'

const MOST_REMEMBERED = 1000
const UNKNOWN = 0

/** Creates a look-up of the context windows of models, in tokens, in the bundled catalogue; `undefined` for an unknown one. */
export function createContextWindows(): (target: Target) => number | undefined {
  const find = openCatalogue()
  const remembered = new LRUCache<string, number>({ max: MOST_REMEMBERED })
  return (target) => {
    const name = `${target.provider}/${target.model}`
    const known = remembered.get(name) ?? find(target)?.contextWindow ?? UNKNOWN
    remembered.set(name, known)
    return known === UNKNOWN ? undefined : known
  }
}
