import './waterfall.css'
import type { TraceStep } from '../../../src/core/telemetry/telemetry.ts'
import { duration } from '../format.ts'

/** What a waterfall is drawn from. */
interface Timed {
  readonly steps: readonly TraceStep[]
  readonly gatewayMs: number
  readonly providerMs: number | null
  readonly totalMs: number
}

/** One bar: a module, the wait for the provider, the sending of the reply. */
interface Bar {
  readonly name: string
  readonly kind: 'module' | 'gateway' | 'provider' | 'reply'
  readonly action: string
  readonly fromMs: number
  readonly ms: number
  readonly step?: TraceStep
}

/**
 * Lays out where the time went, one thing after the other: what is known of a module is its time on both ways together,
 * so that it stands where the request entered it.
 */
function barsOf({ steps, gatewayMs, providerMs, totalMs }: Timed): Bar[] {
  const bars: Bar[] = []
  let fromMs = 0
  const add = (bar: Omit<Bar, 'fromMs'>) => {
    bars.push({ ...bar, fromMs })
    fromMs += bar.ms
  }
  const inModulesMs = steps.reduce((sum, { ms }) => sum + ms, 0)
  add({ name: 'gateway', kind: 'gateway', action: 'read, route', ms: Math.max(0, gatewayMs - inModulesMs) })
  for (const step of steps) add({ name: step.module, kind: 'module', action: step.action, ms: step.ms, step })
  if (providerMs !== null) add({ name: 'provider', kind: 'provider', action: 'waited', ms: providerMs })
  add({ name: 'reply', kind: 'reply', action: 'sent', ms: Math.max(0, totalMs - fromMs) })
  return bars
}

/** A waterfall as small as a cell. */
export function SmallWaterfall(timed: Timed) {
  const bars = barsOf(timed)
  const total = Math.max(...bars.map(({ fromMs, ms }) => fromMs + ms), 0.001)
  const told = bars.map(({ name, ms }) => `${name} ${duration(ms)}`).join(', ')
  return (
    <svg class="small-waterfall" viewBox="0 0 100 12" preserveAspectRatio="none" role="img" aria-label={told}>
      {bars.map(({ name, kind, fromMs, ms }, index) => (
        <rect
          key={`${index} ${name}`}
          class={`bar-${kind}`}
          x={(fromMs / total) * 100}
          width={Math.max((ms / total) * 100, 0.6)}
          y={2}
          height={8}
        />
      ))}
    </svg>
  )
}

/** A waterfall with a row for each bar, and what each module noted. */
export function Waterfall(timed: Timed) {
  const bars = barsOf(timed)
  const total = Math.max(...bars.map(({ fromMs, ms }) => fromMs + ms), 0.001)
  return (
    <ol class="waterfall">
      {bars.map(({ name, kind, action, fromMs, ms, step }, index) => (
        <li key={`${index} ${name}`}>
          <span class="name">{name}</span>
          <span class="action">{action}</span>
          <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
            <rect class="track" x="0" y="0" width="100" height="10" />
            <rect
              class={`bar-${kind}`}
              x={(fromMs / total) * 100}
              width={Math.max((ms / total) * 100, 0.4)}
              y="0"
              height="10"
            />
          </svg>
          <span class="ms">{duration(ms)}</span>
          {step?.details && <Details details={step.details} />}
        </li>
      ))}
    </ol>
  )
}

function Details({ details }: { details: NonNullable<TraceStep['details']> }) {
  return (
    <dl class="step-details">
      {Object.entries(details).map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{typeof value === 'string' ? value : JSON.stringify(value)}</dd>
        </div>
      ))}
    </dl>
  )
}
