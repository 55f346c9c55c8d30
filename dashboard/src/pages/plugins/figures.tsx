import type { ModuleFigures, ModuleSample } from '../../../../src/core/telemetry/module-figures.ts'
import type { UsageGroup } from '../../../../src/core/telemetry/usage.ts'
import { count, duration, moment, percent, usd } from '../../format.ts'
import { Card } from '../../parts/facts.tsx'

/** Figures of all plugins: sums by plugin, and a sample of the newest requests. */
export interface PluginFigures {
  readonly today: readonly UsageGroup[]
  readonly week: readonly UsageGroup[]
  readonly sample: ModuleSample
}

/** Characters of a token, roughly. */
const BYTES_PER_TOKEN = 4
/** Actions of a plugin that did something. */
const NOTHING = new Set(['ran', 'idle', 'miss', 'bypassed'])

/** Returns the requests of today that a plugin ran in, in words. */
export function runsToday({ today }: PluginFigures, name: string): string {
  const requests = today.find((group) => group.name === name)?.requests ?? 0
  return `${count(requests)} ${requests === 1 ? 'request' : 'requests'} today`
}

/** Cards of one plugin's requests, and of its own work in the sample. */
export function FigureCards({ figures, name }: { figures: PluginFigures; name: string }) {
  const { today, week, sample } = figures
  const own = sample.modules.find(({ module }) => module === name)
  const of = (groups: readonly UsageGroup[]) => groups.find((group) => group.name === name)
  return (
    <section class="cards" aria-label={`Figures of ${name}`}>
      <Card
        title="Requests"
        value={count(of(today)?.requests ?? 0)}
        note={`${count(of(week)?.requests ?? 0)} in 7 days`}
      />
      <Card
        title="Saved on them"
        value={usd(of(today)?.savedNanoUsd ?? 0)}
        note={`${usd(of(week)?.savedNanoUsd ?? 0)} in 7 days, by all plugins`}
      />
      {own !== undefined && <OwnWork own={own} sample={sample} />}
    </section>
  )
}

function OwnWork({ own, sample }: { own: ModuleFigures; sample: ModuleSample }) {
  const acted = Object.entries(own.actions).filter(([action]) => !NOTHING.has(action))
  const runs = acted.reduce((sum, [, times]) => sum + times, 0)
  const since = sample.sinceMs === null ? '' : `, since ${moment(sample.sinceMs)}`
  const words = Object.entries(own.actions).map(([action, times]) => `${count(times)} ${action}`)
  return (
    <>
      <Card title="Hits" value={percent(own.runs === 0 ? 0 : runs / own.runs)} note={words.join(', ')} />
      <Card title="Own time" value={duration(own.ms / Math.max(1, own.runs))} note="mean of a request" />
      <Card
        title="Saved by itself"
        value={usd(own.savedNanoUsd)}
        note={`about ${count(Math.round(own.bytesRemoved / BYTES_PER_TOKEN))} tokens removed, in the last ${count(sample.requests)} requests${since}`}
      />
    </>
  )
}
