import type { Summary } from './summary.ts'

/** Bar of the project with its result in one run. */
export interface Bar {
  text: string
  /** Undefined when one of its gateways or cases was not measured. */
  measured: number | undefined
  isMet: boolean
  /** Set for a goal that is not a promise. */
  isStretch: boolean
}

const allCases = ['json-1k', 'json-30k', 'json-300k', 'sse']
const labels: Record<string, string> = {
  'json-1k': 'JSON 1 KB',
  'json-30k': 'JSON 30 KB',
  'json-300k': 'JSON 300 KB',
  sse: 'SSE',
}

interface Limit {
  text: string
  measured: number | undefined
  isStretch?: boolean
}

const atMost = (limit: number, { text, measured, isStretch = false }: Limit): Bar => ({
  text: `${text} ≤ ${limit}`,
  measured,
  isMet: measured !== undefined && measured <= limit,
  isStretch,
})

const atLeast = (limit: number, { text, measured, isStretch = false }: Limit): Bar => ({
  text: `${text} ≥ ${limit}`,
  measured,
  isMet: measured !== undefined && measured >= limit,
  isStretch,
})

/** Largest CPU per request, by gateway, as a multiple of the bare relay’s: in the order of the cases. */
const MULTIPLES: readonly [name: string, text: string, limits: readonly (number | undefined)[]][] = [
  ['none', 'our relay', [1.5, 1.1, 0.9, 1.3]],
  ['default', 'everything on', [2.2, 1.8, 1.6, 2]],
  ['caps', 'everything on, caps by day and month', [2.4, 1.9, 1.7, 2.1]],
  ['hit', 'exact-cache hit, with its receipt', [1.2, 0.8, 0.6, 0.6]],
  ['cloud', 'cloud mode', [4]],
]
/** Goals beyond the limits. */
const STRETCHES: readonly [name: string, text: string, limits: readonly (number | undefined)[]][] = [
  ['default', 'everything on', [1.8]],
  ['hit', 'exact-cache hit, with its receipt', [0.9]],
]
/** Least multiples of our CPU, everything on, that the peer takes. */
const PEER_MULTIPLES = [2.5, 2.5, 3.5, 2.2]
/** Largest CPU of a translation, as a multiple of our relay’s. */
const LARGEST_TRANSLATION = 2
const TRANSLATIONS: readonly [name: string, relay: string, text: string][] = [
  ['chat-to-messages', 'none', 'our chat to Messages ÷ our relay'],
  ['messages-to-chat', 'none', 'our Messages to chat ÷ our relay'],
  ['messages-to-chat', 'chat', 'our Messages to chat ÷ our chat to chat'],
  ['responses-to-messages', 'responses', 'our Responses to Messages ÷ our Responses to Responses'],
]

/** Returns every bar with its verdict. Ratios are of CPU microseconds per request unless the text names a unit. */
export function judge(summary: Summary): Bar[] {
  return [
    ...MULTIPLES.flatMap(([name, text, limits]) => judgeMultiples(summary, { name, text, limits })),
    ...STRETCHES.flatMap(([name, text, limits]) => judgeMultiples(summary, { name, text, limits, isStretch: true })),
    ...allCases.map((caseName, index) =>
      atLeast(PEER_MULTIPLES[index] ?? 0, {
        text: `${labels[caseName]}: peer ÷ everything on`,
        measured: summary.ratio('peer', 'default', caseName),
      }),
    ),
    ...TRANSLATIONS.flatMap(([name, relay, text]) =>
      allCases.map((caseName) =>
        atMost(LARGEST_TRANSLATION, {
          text: `${labels[caseName]}: ${text}`,
          measured: summary.ratio(name, relay, caseName),
        }),
      ),
    ),
    ...judgeLatency(summary),
    judgeIdleStream(summary),
  ]
}

function judgeMultiples(
  { ratio }: Summary,
  {
    name,
    text,
    limits,
    isStretch = false,
  }: { name: string; text: string; limits: readonly (number | undefined)[]; isStretch?: boolean },
): Bar[] {
  return limits.flatMap((limit, index) => {
    const caseName = allCases[index]
    if (limit === undefined || caseName === undefined) return []
    const measured = ratio(name, 'bare', caseName)
    return [atMost(limit, { text: `${labels[caseName]}: ${text} ÷ bare relay`, measured, isStretch })]
  })
}

function judgeLatency({ added }: Summary): Bar[] {
  return [
    atMost(0.5, { text: 'JSON 1 KB: p50 added by everything on, ms', measured: added('default', 'json-1k', 'p50Ms') }),
    atMost(3, { text: 'JSON 1 KB: p99 added by everything on, ms', measured: added('default', 'json-1k', 'p99Ms') }),
    atMost(1, {
      text: 'SSE: time to the first byte added by everything on, ms',
      measured: added('default', 'sse', 'firstByteMs'),
    }),
  ]
}

function judgeIdleStream({ memory }: Summary): Bar {
  const bytes = memory.get('none')?.idleStreamBytes
  const measured = bytes === undefined ? undefined : bytes / 1024
  return atMost(40, { text: 'memory of one idle stream, our relay, KB', measured })
}
