import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { count, moment, usd, visible } from '../../format.ts'
import { addressOf } from '../../usage-filter.ts'
import type { Figures, Limits } from './types.ts'

/** Nano-USD in a USD. */
const NANO = 1e9
/** Share of a limit at and above which the bar shows a warning. */
const NEAR = 0.8

interface SubjectProps extends Figures {
  /** Query parameters that select this subject's requests. */
  readonly filter: Readonly<Record<string, string>>
  readonly title: ComponentChildren
  readonly limits: Limits | null | undefined
  readonly lastUsedAt: string | null | undefined
  readonly children: ComponentChildren
  readonly isOpen?: boolean
}

/** One person, team, key or tag: its figures, and the forms that change it once it is unfolded. */
export function Subject({ title, limits, spend, refused, lastUsedAt, filter, children, isOpen = false }: SubjectProps) {
  const [isUnfolded, setUnfolded] = useState(isOpen)
  return (
    <div class="subject-part">
      <details class="subject" open={isOpen} onToggle={({ currentTarget }) => setUnfolded(currentTarget.open)}>
        <summary>
          <span class="title">{title}</span>
          <Spent what="today" spent={spend.day} limit={limits?.costPerDay} />
          <Spent what="this month" spent={spend.month} limit={limits?.costPerMonth} />
          <span class="use muted">{lastUsedAt ? `used ${moment(Date.parse(lastUsedAt))}` : 'not used yet'}</span>
        </summary>
        {isUnfolded && <div class="subjects">{children}</div>}
      </details>
      {refused.count > 0 && (
        <p class="refusals">
          <a href={addressOf('requests', { ...filter, ended: 'refused', range: 'today', tz: 'UTC' })}>
            {count(refused.count)} refused today
          </a>{' '}
          <span class="muted">{visible(shortened(refused.reason))}</span>
        </p>
      )}
    </div>
  )
}

const LONGEST_REASON = 90

function shortened(reason: string | null): string {
  const text = reason ?? ''
  return text.length > LONGEST_REASON ? `${text.slice(0, LONGEST_REASON)}…` : text
}

/** Spend of a day or month, with a bar where there is a limit. */
function Spent({ what, spent, limit }: { what: string; spent: number; limit: unknown }) {
  const most = typeof limit === 'number' ? limit : undefined
  const share = most === undefined ? 0 : most === 0 ? 1 : Math.min(1, spent / most)
  const kind = share >= 1 ? 'full' : share >= NEAR ? 'near' : ''
  return (
    <span class="spent">
      {usd(spent * NANO)}
      {most !== undefined && ` of ${usd(most * NANO)}`} <span class="muted">{what}</span>
      {most !== undefined && (
        <span class={`track ${kind}`} aria-hidden="true">
          <span style={{ width: `${share * 100}%` }} />
        </span>
      )}
    </span>
  )
}
