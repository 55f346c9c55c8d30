import './usage-filters.css'
import { tokensIn } from '../../../src/core/telemetry/tokens-in.ts'
import type { UsageFigures } from '../../../src/core/telemetry/usage.ts'
import { count, savedRange, usd } from '../format.ts'

/** Sums of what a list shows, all its pages included. */
export function Totals({ total }: { total: UsageFigures }) {
  return (
    <p class="totals" role="status" aria-label="Totals">
      <span>
        <strong>{count(total.requests)}</strong> {total.requests === 1 ? 'request' : 'requests'}
      </span>
      <span>
        <strong>{usd(total.costNanoUsd)}</strong> spent
      </span>
      <span>
        <strong>{savedRange(total)}</strong> saved
      </span>
      <span>
        <strong>{count(tokensIn(total.tokens) + total.tokens.output)}</strong> tokens
      </span>
      <span>
        <strong>{count(total.errors)}</strong> {total.errors === 1 ? 'error' : 'errors'}
      </span>
    </p>
  )
}
