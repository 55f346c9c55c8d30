import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Place, type Target, targets } from './targets.ts'

/** A part of the gateway, and the settings that switch it on. */
interface Part {
  readonly name: string
  readonly label: string
  readonly settings: Readonly<Record<string, object | string>>
}

const PARTS: readonly Part[] = [
  {
    name: 'relay',
    label: 'relay only',
    settings: {
      log_level: 'silent',
      pipeline: { default: 'none' },
      receipts: { enabled: false },
      telemetry: { enabled: false },
      metrics: { enabled: false },
      dashboard: { access: 'off' },
    },
  },
  { name: 'log', label: '+ log line', settings: { log_level: 'info' } },
  { name: 'metrics', label: '+ metrics', settings: { metrics: { enabled: true } } },
  { name: 'receipts', label: '+ receipt', settings: { receipts: { enabled: true } } },
  { name: 'rows', label: '+ row of the request, live feed', settings: { telemetry: { enabled: true } } },
  { name: 'bodies', label: '+ bodies kept for the dashboard', settings: { dashboard: { access: 'loopback' } } },
  { name: 'cache', label: '+ exact-cache, all misses', settings: { pipeline: { default: 'exact-cache' } } },
  {
    name: 'pipeline',
    label: '+ cost-guard without caps (the defaults)',
    settings: { pipeline: { default: 'exact-cache,cost-guard' } },
  },
  { name: 'caps', label: '+ caps by day and month', settings: { costs: { per_day: 1_000_000, per_month: 1_000_000 } } },
]

/** Cases in which the parts are measured. */
export const PART_CASES: ReadonlySet<string> = new Set(['json-1k', 'sse'])

/** Returns the bare relay, then a target for each part, with the settings of all parts before it. */
export function partTargets(): Target[] {
  const [bare, template] = ['bare', 'default'].map((name) => targets.find((target) => target.name === name))
  if (bare === undefined || template === undefined) throw new Error('Expected the targets `bare` and `default`.')
  const parts = PARTS.map(({ name, label }, index) => {
    const settings = Object.assign({}, ...PARTS.slice(0, index + 1).map((part) => part.settings))
    const environment = (place: Place): Record<string, string> => {
      const file = join(place.dataDir, 'parts.yaml')
      writeFileSync(file, JSON.stringify(settings))
      const { LOG_LEVEL, ...rest } = template.environment?.(place) ?? {}
      return { ...rest, SVC_CONFIG: file }
    }
    return { ...template, name: `part-${name}`, label, environment }
  })
  return [bare, ...parts]
}
