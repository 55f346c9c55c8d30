import './chart.css'
import './cost-classes.css'
import type { CostByClass } from '../../../src/core/money/prices.ts'
import type { RequestTokens } from '../../../src/core/telemetry/telemetry.ts'
import { COST_CLASSES, type CostClass } from '../conversation.ts'
import { count, NOTHING, percent, usd } from '../format.ts'
import { Table } from './table.tsx'

/** Segment of a bar. */
interface Segment extends Pick<CostClass, 'title' | 'colour'> {
  readonly amount: number
}

/** Bar of segments, `most` wide at full length. */
function Mix({ segments, most, label }: { segments: readonly Segment[]; most: number; label: string }) {
  let from = 0
  return (
    <svg class="mix" viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label={label}>
      <rect class="track" x="0" y="0" width="100" height="10" />
      {segments.map(({ title, colour, amount }) => {
        const width = (amount / Math.max(most, 1)) * 100
        const x = from
        from += width
        return <rect key={title} class={colour} x={x} y="0" width={width} height="10" />
      })}
    </svg>
  )
}

/** Bar of a cost by class. */
export function CostMix({ costs }: { costs: CostByClass }) {
  const segments = COST_CLASSES.map(({ name, ...shown }) => ({ ...shown, amount: costs[name] }))
  const parts = segments.filter(({ amount }) => amount > 0)
  const label = parts.map(({ title, amount }) => `${title} ${usd(amount)}`).join(', ') || 'No cost'
  return <Mix segments={parts} most={parts.reduce((sum, { amount }) => sum + amount, 0)} label={label} />
}

/** Bar of the input tokens of a turn, cached ones included, against the largest context shown. */
export function ContextBar({ tokens, most }: { tokens: RequestTokens; most: number }) {
  const segments = COST_CLASSES.slice(0, INPUT_CLASSES).map(({ tokens: read, ...shown }) => ({
    ...shown,
    amount: read?.(tokens) ?? 0,
  }))
  const label = segments
    .filter(({ amount }) => amount > 0)
    .map(({ title, amount }) => `${title} ${count(amount)} tokens`)
  return <Mix segments={segments} most={most} label={label.join(', ') || 'No input'} />
}
const INPUT_CLASSES = 4

interface CostTableProps {
  readonly label: string
  readonly costs: CostByClass
  readonly tokens: RequestTokens | null
  readonly serverToolCalls: number
  readonly costNanoUsd: number
}

/** Table of tokens and cost by class, and their sum. */
export function CostTable({ label, costs, tokens, serverToolCalls, costNanoUsd }: CostTableProps) {
  const total = (
    <tr>
      <th scope="row">Total</th>
      <td>{tokens === null ? NOTHING : count(totalOf(tokens))}</td>
      <td>{usd(costNanoUsd)}</td>
      <td />
    </tr>
  )
  return (
    <Table class="cost-classes" label={label} heads={['Cost by class', 'Tokens', 'Cost', 'Share']} foot={total}>
      {COST_CLASSES.map(({ name, title, colour, tokens: read }) => (
        <tr key={name}>
          <th scope="row">
            <span class={`dot ${colour}`} aria-hidden="true" />
            {title}
          </th>
          <td>{read === undefined ? calls(serverToolCalls) : tokens === null ? NOTHING : count(read(tokens))}</td>
          <td>{usd(costs[name])}</td>
          <td>{costNanoUsd === 0 ? NOTHING : percent(costs[name] / costNanoUsd)}</td>
        </tr>
      ))}
    </Table>
  )
}

function calls(amount: number): string {
  return amount === 0 ? NOTHING : `${count(amount)} ${amount === 1 ? 'call' : 'calls'}`
}

function totalOf({ input, output, cacheRead, cacheWrite }: RequestTokens): number {
  return input + output + cacheRead + cacheWrite
}
