import './playground.css'
import { tokensIn } from '../../../../src/core/telemetry/tokens-in.ts'
import { count, duration, NOTHING, percent, usd, visible } from '../../format.ts'
import { StatusBadge } from '../../parts/badges.tsx'
import { savedOf } from '../../parts/request-columns.tsx'
import { Table } from '../../parts/table.tsx'
import { Diff } from '../../parts/text.tsx'
import { Waterfall } from '../../parts/waterfall.tsx'
import type { Played } from '../../play.ts'

/** Names of the two pipelines. */
export const NAMES = ['A', 'B'] as const

/** A run and its name: a pipeline's letter, or a model. */
export interface Run {
  readonly name: string
  readonly played: Played
}

/** Results of two pipelines, or of two or three models, side by side. */
export function Results({ runs }: { runs: readonly Run[] }) {
  const [first, second, third] = runs
  if (first === undefined || second === undefined) return null
  return (
    <section aria-labelledby="results">
      <h2 id="results">Results</h2>
      <Compared runs={runs} />
      <div class="two">
        {runs.map(({ name, played }) => (
          <Result key={name} name={name} {...played} />
        ))}
      </div>
      {third === undefined && (
        <>
          <h3>
            Replies compared, {visible(first.name)} to {visible(second.name)}
          </h3>
          <Diff before={first.played.text} after={second.played.text} label="Answers compared" />
        </>
      )}
    </section>
  )
}

/** Table of the figures of all runs; of two also their differences. */
function Compared({ runs }: { runs: readonly Run[] }) {
  const [first, second] = runs
  const isTwo = runs.length === NAMES.length
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
  const compared = `${visible(second?.name ?? '')} compared with ${visible(first?.name ?? '')}`
  const heads = ['Figure', ...runs.map(({ name }) => visible(name)), ...(isTwo ? [compared] : [])]
  return (
    <Table label="Figures compared" heads={heads}>
      {rows.map(([name, value, print]) => {
        const [a, b, ...more] = runs.map(({ played }) => value(played))
        return (
          <tr key={name}>
            <th scope="row">{name}</th>
            {[a, b, ...more].map((each, index) => (
              <td key={runs[index]?.name}>{print(each)}</td>
            ))}
            {isTwo && <td>{changeOf(a, b)}</td>}
          </tr>
        )
      })}
    </Table>
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
    <article class="result" aria-label={`Result of ${name.length === 1 ? 'pipeline ' : ''}${name}`}>
      <div class="bar">
        <h3>{visible(name)}</h3>
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
