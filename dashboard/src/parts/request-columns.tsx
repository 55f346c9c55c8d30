import { ColumnHeads } from './column-heads.tsx'
import './request-columns.css'
import type { Names } from '../../../src/core/ports/names.ts'
import type { ListedRequest, TraceStep } from '../../../src/core/telemetry/telemetry.ts'
import { tokensIn } from '../../../src/core/telemetry/tokens-in.ts'
import { count, duration, moment, NOTHING, usd, visible } from '../format.ts'
import { useSession } from '../session.tsx'
import { CacheBadge, StatusBadge } from './badges.tsx'
import { ConversationLink } from './conversation-link.tsx'
import { NamedKey } from './named-value.tsx'
import { SmallWaterfall } from './waterfall.tsx'

/** Row of the lists; live ones include their steps. */
export type RequestRow = ListedRequest & { readonly steps?: readonly TraceStep[] }

/** Returns the savings, in nano-USD; `null` where they are unknown. */
export function savedOf({ costNanoUsd, counterfactualNanoUsd }: ListedRequest): number | null {
  return costNanoUsd === null || counterfactualNanoUsd === null ? null : counterfactualNanoUsd - costNanoUsd
}

const CEILING = 'The price of this model is unknown: charged at the ceiling price.'

/** Cost of a request, marked where it is the ceiling of an unknown price. */
export function Cost({ costNanoUsd, priceSource }: Pick<ListedRequest, 'costNanoUsd' | 'priceSource'>) {
  if (priceSource !== 'ceiling' || costNanoUsd === 0) return <>{usd(costNanoUsd)}</>
  return (
    <span class="ceiling" title={CEILING}>
      ≤{usd(costNanoUsd)}
    </span>
  )
}

const COLUMNS = [
  ['time', 'Time'],
  ['model', 'Model'],
  ['key', 'Key'],
  ['conversation', 'Conversation'],
  ['status', 'Status'],
  ['cache', 'Cache'],
  ['tokens', 'Tokens in / out'],
  ['cost', 'Cost'],
  ['saved', 'Saved'],
  ['gateway', 'Gateway'],
  ['total', 'Total'],
  ['fall', 'Time spent'],
] as const

/** Class of a list of requests: local mode has no keys, and no column of them. */
export function useRequestsClass(): string {
  return useSession().mode === 'cloud' ? 'requests keyed' : 'requests'
}

export function RequestHead() {
  const { mode } = useSession()
  return <ColumnHeads columns={mode === 'cloud' ? COLUMNS : COLUMNS.filter(([name]) => name !== 'key')} />
}

export function RequestCells({ names, ...request }: RequestRow & { readonly names: Names }) {
  const { mode } = useSession()
  const { id, startedAtMs, modelServed, modelAsked, tokens, counterfactualBasis } = request
  const saved = savedOf(request)
  const model = visible(modelServed ?? modelAsked) || NOTHING
  const reason = request.reason === null ? '' : ` ${visible(request.reason)}`
  return (
    <>
      <span class="cell time" role="cell">
        <a href={`#/request/${id}`}>{moment(startedAtMs)}</a>
      </span>
      <span class="cell model" role="cell" title={model + reason}>
        {model}
        {reason !== '' && <small class="reason">{reason}</small>}
      </span>
      {mode === 'cloud' && (
        <span class="cell key" role="cell">
          <NamedKey {...request} names={names} />
        </span>
      )}
      <span class="cell conversation" role="cell">
        <ConversationLink {...request} />
      </span>
      <span class="cell status" role="cell">
        <StatusBadge {...request} />
      </span>
      <span class="cell cache" role="cell">
        <CacheBadge {...request} />
      </span>
      <span class="cell tokens" role="cell">
        {tokens === null ? NOTHING : `${count(tokensIn(tokens))} / ${count(tokens.output)}`}
      </span>
      <span class="cell cost" role="cell">
        <Cost {...request} />
      </span>
      <span class="cell saved" role="cell">
        {saved === 0 ? NOTHING : `${counterfactualBasis === 'estimate' && saved !== null ? '≈ ' : ''}${usd(saved)}`}
      </span>
      <span class="cell gateway" role="cell">
        {duration(request.gatewayMs)}
      </span>
      <span class="cell total" role="cell">
        {duration(request.totalMs)}
      </span>
      <span class="cell fall" role="cell">
        <SmallWaterfall {...request} steps={request.steps ?? []} />
      </span>
    </>
  )
}
