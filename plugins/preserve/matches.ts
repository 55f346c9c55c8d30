import { createContext, Script } from 'node:vm'
import { GatewayError } from 'turnpike/plugin'

const LONGEST_MS = 100
/** A match of nothing holds nothing, and would never end. */
const SCRIPT = new Script(
  `texts.map((text) => [...text.matchAll(new RegExp(source, 'g'))].map((match) => [match.index, match.index + match[0].length]))`,
)

/**
 * Where a regular expression matches in each text, as `[start, end]`. It may be a caller's, and some take years on a text
 * made for it: a context of its own is the one place where Node can stop one.
 * Throws `invalid_request` after 100 ms.
 */
export function matchesIn(texts: readonly string[], source: string): (readonly [start: number, end: number])[][] {
  try {
    return SCRIPT.runInContext(createContext({ texts, source }), { timeout: LONGEST_MS })
  } catch (cause) {
    throw new GatewayError(
      'invalid_request',
      `Module \`preserve\`: the regular expression \`${source}\` took longer than ${LONGEST_MS} ms. Expected one without repetitions in repetitions.`,
      { cause },
    )
  }
}
