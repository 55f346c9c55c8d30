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
const labels: Record<string, string> = { 'json-1k': '1 KB', 'json-30k': '30 KB', 'json-300k': '300 KB', sse: 'SSE' }

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

/**
 * Returns every bar with its verdict. Ratios are of CPU microseconds per request unless the text names another unit.
 */
export function judge(summary: Summary): Bar[] {
  const { ratio } = summary
  const tightDefault: [string, number][] = [
    ['json-1k', 1.8],
    ['json-30k', 1.6],
    ['json-300k', 1.7],
    ['sse', 1.4],
  ]
  const peerFactors: [string, number][] = [
    ['json-1k', 5],
    ['json-300k', 3.5],
    ['sse', 4.5],
  ]
  const hitFactors: [string, number][] = [
    ['json-1k', 0.65],
    ['json-300k', 0.6],
  ]
  const versusBare = (name: string, caseName: string, text: string): Limit => ({
    text: `${labels[caseName]}: ${text} ÷ bare relay`,
    measured: ratio(name, 'bare', caseName),
  })
  const peerVersus = (name: string, caseName: string, text: string): Limit => ({
    text: `${labels[caseName]}: peer ÷ ${text}`,
    measured: ratio('peer', name, caseName),
  })
  const hitVersusLive = (caseName: string): Limit => ({
    text: `${labels[caseName]}: our exact-cache hit ÷ our relay`,
    measured: ratio('hit', 'none', caseName),
  })
  const translations: [string, string, string][] = [
    ['chat-to-messages', 'none', 'our chat to Messages ÷ our relay'],
    ['messages-to-chat', 'none', 'our Messages to chat ÷ our relay'],
    ['messages-to-chat', 'chat', 'our Messages to chat ÷ our chat to chat'],
  ]
  return [
    ...allCases.map((name) => atMost(1.5, versusBare('none', name, 'our relay'))),
    ...tightDefault.map(([name, limit]) => atMost(limit, versusBare('default', name, 'our default pipeline'))),
    ...allCases.map((name) => atMost(2.2, versusBare('default', name, 'our default pipeline'))),
    ...peerFactors.map(([name, limit]) => atLeast(limit, peerVersus('none', name, 'our relay'))),
    ...peerFactors.map(([name, limit]) => atLeast(limit, peerVersus('default', name, 'our default pipeline'))),
    atMost(0.7, { ...versusBare('none', 'json-300k', 'our relay'), isStretch: true }),
    ...hitFactors.map(([name, limit]) => atMost(limit, hitVersusLive(name))),
    ...hitFactors.map(([name]) => atMost(0.5, { ...hitVersusLive(name), isStretch: true })),
    ...translations.flatMap(([name, relay, text]) =>
      allCases.map((caseName) =>
        atMost(2, { text: `${labels[caseName]}: ${text}`, measured: ratio(name, relay, caseName) }),
      ),
    ),
    judgeFirstByte(summary),
    judgeIdleStream(summary),
  ]
}

function judgeFirstByte({ added }: Summary): Bar {
  const peerMs = added('peer', 'sse', 'firstByteMs')
  const oursMs = added('default', 'sse', 'firstByteMs')
  // Below the clock's own noise (0.05 ms) a ratio is meaningless.
  const measured = peerMs === undefined || oursMs === undefined ? undefined : peerMs / Math.max(oursMs, 0.05)
  return atLeast(20, { text: 'SSE: time to first byte added by the peer ÷ by our default pipeline', measured })
}

function judgeIdleStream({ memory }: Summary): Bar {
  const bytes = memory.get('none')?.idleStreamBytes
  const measured = bytes === undefined ? undefined : bytes / 1024
  return atMost(40, { text: 'memory of one idle stream, our relay, KB', measured })
}
