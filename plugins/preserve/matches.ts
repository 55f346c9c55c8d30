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
/** On a busy machine the time may be over before the work has had its share of it. */
const MOST_TRIES = 4
const SCRIPT = new Script(
  `texts.map((text) => [...text.matchAll(new RegExp(source, 'g'))].map((match) => [match.index, match.index + match[0].length]))`,
)

/**
 * Where a regular expression matches in each text. One of a caller runs in a context of its own, the one place where Node
 * can stop it: after 250 ms, of which the thread had at least half. Throws `invalid_request` then.
 */
export function matchesIn(texts: readonly string[], { source, isTrusted }: Pattern): Match[][] {
  return isTrusted ? texts.map((text) => matchesOf(text, source)) : matchesInTime(texts, source)
}

function matchesOf(text: string, source: string): Match[] {
  return [...text.matchAll(new RegExp(source, 'g'))].map((match) => [match.index, match.index + match[0].length])
}

function matchesInTime(texts: readonly string[], source: string): Match[][] {
  const context = createContext({ texts, source })
  for (let left = MOST_TRIES; ; left--) {
    const begun = process.threadCpuUsage()
    try {
      return SCRIPT.runInContext(context, { timeout: LONGEST_MS })
    } catch (cause) {
      const { user, system } = process.threadCpuUsage(begun)
      if (left > 1 && (user + system) / 1000 < LONGEST_MS / 2) continue
      throw new GatewayError(
        'invalid_request',
        `Module \`preserve\`: the regular expression \`${source}\` took longer than ${LONGEST_MS} ms. Expected one without repetitions in repetitions.`,
        { cause },
      )
    }
  }
}
