import { readFileSync } from 'node:fs'
import test from 'ava'
import { parse } from 'yaml'
import { definitionOf, METRICS, type MetricName } from '../../src/journal/metrics/definitions.ts'

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')

interface Dashboard {
  panels: { title: string; targets: { expr: string }[] }[]
}
interface Alerts {
  groups: { rules: { alert: string; expr: string; annotations: { summary: string; description: string } }[] }[]
}

const dashboard = JSON.parse(read('deploy/grafana/turnpike.json')) as Dashboard
const alerts = parse(read('deploy/prometheus/alerts.yaml')) as Alerts
const rules = alerts.groups.flatMap(({ rules }) => rules)
const queries = [
  ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
  ...rules.map(({ expr }) => expr),
  ...[...read('docs/observing.md').matchAll(/`([^`]*turnpike_[^`]*\([^`]*)`/g)].map(([, query = '']) => query),
]

/** Labels that no metric declares: a scraper's, a worker's, a histogram's. */
const GIVEN = ['instance', 'worker', 'job', 'le']

test('deploy: dashboard, alerts and the page on observing query existing metrics and labels', (t) => {
  t.true(queries.length > 20, `${queries.length} queries`)
  for (const query of queries) {
    const names = [...query.matchAll(/\b(?:turnpike|nodejs|process)_[a-z_]+\b/g)].map(([name]) => nameOf(name))
    const known = names.filter((name): name is MetricName => name in METRICS)
    t.deepEqual(names, known, query)
    const labels = [...GIVEN, ...known.flatMap((name) => definitionOf(name).labels)]
    const used = [...query.matchAll(/by \(([^)]*)\)|\{([^}]*)\}/g)]
      .flatMap(([, by, match]) => (by ?? match ?? '').split(','))
      .map((part) => part.trim().split(/[=!]/)[0] ?? '')
    t.deepEqual(
      used.filter((label) => label !== '' && !labels.includes(label)),
      [],
      query,
    )
  }
})

test('deploy: each alert has an instruction', (t) => {
  for (const { alert, annotations } of rules) t.regex(annotations.description, /\w{3}.*\./s, alert)
})

/** Returns the histogram of one of its series. */
function nameOf(series: string): string {
  const name = series.replace(/_(bucket|sum|count)$/, '')
  return name in METRICS ? name : series
}
