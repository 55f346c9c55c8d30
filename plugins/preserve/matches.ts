import { createContext, Script } from 'node:vm'
import { GatewayError } from 'turnpike/plugin'

/** First character of a match, and the one behind it. */
export type Match = readonly [start: number, end: number]

/** A regular expression, and whether it is a caller's: some take years on a text that is made for them. */
export interface Pattern {
  readonly source: string
  readonly isTrusted: boolean
}

const LONGEST_MS = 250
const SCRIPT = new Script(
  `texts.map((text) => [...text.matchAll(new RegExp(source, 'g'))].map((match) => [match.index, match.index + match[0].length]))`,
)

/**
 * Where a regular expression matches in each text. One of a caller runs in a context of its own, the one place where Node
 * can stop it: after 250 ms. Throws `invalid_request` then.
 */
export function matchesIn(texts: readonly string[], { source, isTrusted }: Pattern): Match[][] {
  return isTrusted ? texts.map((text) => matchesOf(text, source)) : matchesInTime(texts, source)
}

function matchesOf(text: string, source: string): Match[] {
  return [...text.matchAll(new RegExp(source, 'g'))].map((match) => [match.index, match.index + match[0].length])
}

function matchesInTime(texts: readonly string[], source: string): Match[][] {
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
