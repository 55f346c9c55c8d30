import { definitionOf, METRICS, type MetricDefinition, type MetricName } from './definitions.ts'
import type { Sample } from './series.ts'

/** The values of all metrics of one process. */
export type Snapshot = Readonly<Partial<Record<MetricName, readonly Sample[]>>>

/** A process's values; `worker` is unset when there is only one. */
export interface ProcessSnapshot {
  readonly worker: string | undefined
  readonly snapshot: Snapshot
}

/** Media type of the output: the text format of Prometheus. */
export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** Prints the values of all processes; those of several are distinguished by a label `worker`. */
export function printMetrics(processes: readonly ProcessSnapshot[]): string {
  const lines: string[] = []
  for (const name of Object.keys(METRICS) as MetricName[]) {
    const definition = definitionOf(name)
    lines.push(`# HELP ${name} ${escapeHelp(definition.help)}`, `# TYPE ${name} ${definition.kind}`)
    for (const { worker, snapshot } of processes) {
      const own: Pairs = worker === undefined ? [] : [['worker', worker]]
      for (const [labels, value] of snapshot[name] ?? []) {
        const pairs = [...definition.labels.map((label, i) => [label, labels[i] ?? ''] as const), ...own]
        if (typeof value === 'number') lines.push(line(name, pairs, value))
        else lines.push(...histogramLines(name, pairs, { definition, cells: value }))
      }
    }
  }
  return `${lines.join('\n')}\n`
}

type Pairs = readonly (readonly [label: string, value: string])[]

/** Prints a histogram; its buckets are cumulative. */
function histogramLines(
  name: string,
  pairs: Pairs,
  { definition: { buckets = [] }, cells }: { definition: MetricDefinition; cells: readonly number[] },
): string[] {
  let count = 0
  const lines = [...buckets.map(String), '+Inf'].map((bound, i) => {
    count += cells[i] ?? 0
    return line(`${name}_bucket`, [...pairs, ['le', bound]], count)
  })
  return [...lines, line(`${name}_sum`, pairs, cells.at(-1) ?? 0), line(`${name}_count`, pairs, count)]
}

function line(name: string, pairs: Pairs, value: number): string {
  const labels = pairs.map(([label, text]) => `${label}="${escapeLabel(text)}"`).join(',')
  return `${name}${labels && `{${labels}}`} ${value}`
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}

function escapeLabel(text: string): string {
  return escapeHelp(text).replaceAll('"', '\\"')
}
