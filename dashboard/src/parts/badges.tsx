import './badges.css'
import type { ListedRequest } from '../../../src/core/telemetry/telemetry.ts'
import { NOTHING } from '../format.ts'

const CACHES = { hit: 'hit', attached: 'attached', miss: 'miss', none: NOTHING } as const

/** Badge of the cache result. */
export function CacheBadge({ cache }: Pick<ListedRequest, 'cache'>) {
  return <span class={`badge cache-${cache}`}>{CACHES[cache]}</span>
}

/** Badge of a request's end: its status, and the outcome of an incomplete reply. */
export function StatusBadge({ status, outcome }: Pick<ListedRequest, 'status' | 'outcome'>) {
  const isFine = outcome === 'complete'
  return (
    <span class={`badge ${isFine ? 'fine' : 'failed'}`} title={outcome}>
      {status ?? 'none'}
      {!isFine && <span class="word"> {outcome}</span>}
    </span>
  )
}
