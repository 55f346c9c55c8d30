import './playground.css'
import { tokensIn } from '../../../../src/core/telemetry/tokens-in.ts'
import { count, duration, NOTHING, percent, usd, visible } from '../../format.ts'
import { StatusBadge } from '../../parts/badges.tsx'
import { savedOf } from '../../parts/request-columns.tsx'
import { Diff } from '../../parts/text.tsx'
import { Waterfall } from '../../parts/waterfall.tsx'
import type { Played } from '../../play.ts'

/** Names of the two pipelines. */
export const NAMES = ['A', 'B'] as const

/** Results of both pipelines, side by side. */
export function Results({ played }: { played: readonly [Played?, Played?] }) {
  const [first, second] = played
  if (first === undefined || second === undefined) return null
  return (
    <section aria-labelledby="results">
      <h2 id="results">Results</h2>
      <Compared first={first} second={second} />
      <div class="two">
        {[first, second].map((one, index) => (
          <Result key={index} name={NAMES[index] ?? ''} {...one} />
        ))}
      </div>
      <h3>Replies compared, A to B</h3>
      <Diff before={first.text} after={second.text} label="Answers compared" />
    </section>
  )
}

/** Table of the figures of A and B, and their differences. */
function Compared({ first, second }: { first: Played; second: Played }) {
  const tokensOf = ({ detail }: Played) => detail?.request.tokens
  const inOf = (one: Played) => {
    const tokens = tokensOf(one)
    return tokens && tokensIn(tokens)
  }
  const rows: [
    name: string,
    value: (one: Played) => number | null | undefined,
    print: (value?: number | null) => string,
  ][] = [
    ['Cost', ({ detail }) => detail?.request.costNanoUsd, usd],
    ['Saved', ({ detail }) => detail && savedOf(detail.request), usd],
    ['Tokens in', (one) => inOf(one), count],
    ['Tokens out', (one) => tokensOf(one)?.output, count],
    ['Took', ({ tookMs }) => tookMs, duration],
    ['Gateway overhead', ({ detail }) => detail?.request.gatewayMs, duration],
  ]
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Figures compared">
      <table>
        <thead>
          <tr>
            <th scope="col">Figure</th>
            <th scope="col">A</th>
            <th scope="col">B</th>
            <th scope="col">B compared with A</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, value, print]) => {
            const [a, b] = [value(first), value(second)]
            return (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td>{print(a)}</td>
                <td>{print(b)}</td>
                <td>{changeOf(a, b)}</td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}

/** Returns the difference of the second from the first, in per cent of the first. */
function changeOf(first: number | null | undefined, second: number | null | undefined): string {
  if (typeof first !== 'number' || typeof second !== 'number') return NOTHING
  if (first === second) return 'same'
  if (first === 0) return NOTHING
  return `${second > first ? '+' : '−'}${percent(Math.abs(second / first - 1))}`
}

function Result({ name, status, text, ran, receiptId, detail }: Played & { name: string }) {
  const request = detail?.request
  return (
    <article class="result" aria-label={`Result of pipeline ${name}`}>
      <div class="bar">
        <h3>{name}</h3>
        <StatusBadge status={status} outcome={request?.outcome ?? (status === 200 ? 'complete' : 'error')} />
        <code>{visible(ran)}</code>
        {receiptId !== '' && request !== undefined && <a href={`#/request/${receiptId}`}>Details</a>}
      </div>
      <pre class="scroll" tabIndex={0} role="region" aria-label={`Answer ${name}`}>
        {visible(text)}
      </pre>
      {request !== undefined && <Waterfall {...request} steps={request.trace.steps} />}
    </article>
  )
}
