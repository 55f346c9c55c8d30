import './waterfall.css'
import type { TraceStep } from '../../../src/core/telemetry/telemetry.ts'
import { duration } from '../format.ts'

/** Timings of a waterfall. */
interface Timed {
  readonly steps: readonly TraceStep[]
  readonly gatewayMs: number
  readonly providerMs: number | null
  readonly totalMs: number
}

/** Bar: a plugin, the wait for the provider, or the sending of the reply. */
interface Bar {
  readonly name: string
  readonly kind: 'module' | 'gateway' | 'provider' | 'reply'
  readonly action: string
  readonly fromMs: number
  readonly ms: number
  readonly step?: TraceStep
}

/**
 * Lays out the bars one after the other: the time of a plugin is the sum of both directions, drawn where the request
 * entered it.
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

/** Waterfall that fits into a table cell. */
export function SmallWaterfall(timed: Timed) {
  const bars = barsOf(timed)
  const total = Math.max(...bars.map(({ fromMs, ms }) => fromMs + ms), 0.001)
  const label = bars.map(({ name, ms }) => `${name} ${duration(ms)}`).join(', ')
  return (
    <svg class="small-waterfall" viewBox="0 0 100 12" preserveAspectRatio="none" role="img" aria-label={label}>
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

/** Waterfall with a row for each bar, and the notes of each plugin. */
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
