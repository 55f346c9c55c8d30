import { definitionOf, METRICS, type MetricName } from '../../src/journal/metrics/definitions.ts'
import { code, GENERATED, table } from './markdown.ts'

const INTRODUCTION = `# Metrics

\`GET /metrics\` gives these in the text format of Prometheus. In local mode this machine may read them; otherwise set
\`metrics.token\` and send it as a bearer token. They hold no prompts, no keys and no names of users. A gateway of several
processes (\`start --workers\`) reports all of them: each series then has a label \`worker\`. Counters begin at 0 with
their process. Each metric keeps 1,000 series; further ones go into a series whose labels are all \`other\`.

How to scrape them, a dashboard for Grafana and alert rules: [observing](../observing.md).`

/** Renders the reference page of all metrics. */
export function metricsPage(): string {
  const rows = (Object.keys(METRICS) as MetricName[]).map((name) => {
    const { kind, labels, help } = definitionOf(name)
    return [code(name), kind, labels.map(code).join(', '), help]
  })
  return `${[GENERATED, INTRODUCTION, table(['metric', 'kind', 'labels', 'meaning'], rows)].join('\n\n')}\n`
}
