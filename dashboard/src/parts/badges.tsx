import './badges.css'
import type { ListedRequest } from '../../../src/core/telemetry/telemetry.ts'

const CACHES = { hit: 'hit', attached: 'attached', miss: 'miss', none: '–' } as const

/** What the caches did: a word, and a colour that says the same. */
export function CacheBadge({ cache }: Pick<ListedRequest, 'cache'>) {
  return <span class={`badge cache-${cache}`}>{CACHES[cache]}</span>
}

/** How a request ended: its status, and the word for what is not a whole answer. */
export function StatusBadge({ status, outcome }: Pick<ListedRequest, 'status' | 'outcome'>) {
  const isFine = outcome === 'complete'
  return (
    <span class={`badge ${isFine ? 'fine' : 'failed'}`} title={outcome}>
      {status ?? 'none'}
      {!isFine && <span class="word"> {outcome}</span>}
    </span>
  )
}
