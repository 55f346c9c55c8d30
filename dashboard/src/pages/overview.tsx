import { useEffect, useMemo } from 'preact/hooks'
import type { LossSums, UsageSums } from '../../../src/core/telemetry/telemetry.ts'
import { quantileOf } from '../../../src/core/telemetry/time-buckets.ts'
import { tokensIn } from '../../../src/core/telemetry/tokens-in.ts'
import { count, duration, percent, usd } from '../format.ts'
import { addUp, type Sums, stepsOf } from '../overview-sums.ts'
import { Chart } from '../parts/chart.tsx'
import { Card } from '../parts/facts.tsx'
import { FirstRequest } from '../parts/first-request.tsx'
import { Losses } from '../parts/losses.tsx'
import { Busy, Empty, Failure } from '../parts/states.tsx'
import type { Route } from '../route.ts'
import { useData } from '../use-data.ts'

interface Overview {
  readonly fromMs: number
  readonly toMs: number
  readonly stepMs: number
  readonly sums: readonly UsageSums[]
  readonly losses: readonly LossSums[]
}

const RANGES = [
  ['24h', 'Day'],
  ['7d', 'Week'],
  ['30d', 'Month'],
  ['12mo', 'Year'],
] as const
const REFRESH_MS = 10_000

/** Page of cost, savings and latency. */
export function OverviewPage({ route }: { route: Route }) {
  const range = route.query.get('range') ?? '24h'
  const { data, error, isBusy, reload } = useData<Overview>(
    `/dashboard/api/overview?range=${encodeURIComponent(range)}`,
  )
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === 'visible' && reload(), REFRESH_MS)
    return () => clearInterval(timer)
  }, [reload])
  const total = useMemo(() => data && addUp(data.sums), [data])
  return (
    <>
      <div class="page-head">
        <h1>Overview</h1>
        <fieldset class="choice">
          <legend>Time</legend>
          {RANGES.map(([name, title]) => (
            <a key={name} href={`#/?range=${name}`} aria-current={name === range ? 'true' : undefined}>
              {title}
            </a>
          ))}
        </fieldset>
      </div>
      {error && <Failure error={error} onRetry={reload} />}
      {data === undefined && isBusy && <Busy what="the figures" />}
      {data !== undefined &&
        total !== undefined &&
        (total.requests === 0 ? <NothingYet /> : <Figures {...data} total={total} />)}
    </>
  )
}

function NothingYet() {
  return (
    <Empty title="No requests in this period">
      <p>
        They are counted as they arrive. <a href="#/start">Set up a provider and a client</a>, or send one that needs no
        provider’s key:
      </p>
      <FirstRequest />
    </Empty>
  )
}

function Figures({ total, ...overview }: Overview & { total: Sums }) {
  return (
    <>
      <Cards total={total} />
      <Charts {...overview} />
      <Models sums={overview.sums} />
      <Losses losses={overview.losses} />
    </>
  )
}

function Cards({ total }: { total: Sums }) {
  const lookups = total.cacheHits + total.cacheAttached + total.cacheMisses
  const input = tokensIn(total.tokens)
  const measured = total.savedNanoUsd - total.savedEstimateNanoUsd
  return (
    <section class="cards lead" aria-label="Figures">
      <Card title="Spent" value={usd(total.costNanoUsd)} note={noteOfSpent(total)} />
      <Card
        title="Saved"
        value={savedOf(total)}
        note={`${usd(measured)} measured, ${range(total.savedEstimateNanoUsd, total.savedMoreNanoUsd)} estimated`}
      />
      <Card
        title="Requests"
        value={count(total.requests)}
        note={`${count(total.errors)} errors, ${count(total.unfinished)} unfinished`}
      />
      <Card
        title="Cache hits"
        value={lookups === 0 ? '–' : percent((total.cacheHits + total.cacheAttached) / lookups)}
        note={
          lookups === 0
            ? 'no cache look-ups'
            : `${count(total.cacheHits + total.cacheAttached)} of ${count(lookups)} look-ups`
        }
      />
      <Card
        title="Gateway overhead"
        value={duration(quantileOf(total.gatewayTimes, 0.5))}
        note={`p50; p95 ${duration(quantileOf(total.gatewayTimes, 0.95))}`}
      />
      <Card
        title="Tokens"
        value={count(input + total.tokens.output)}
        note={`${count(input)} in, ${count(total.tokens.output)} out`}
      />
    </section>
  )
}

/** Formats an amount; a range where it may be visibly more. */
function range(leastNanoUsd: number, moreNanoUsd: number): string {
  const least = usd(leastNanoUsd)
  const most = usd(leastNanoUsd + moreNanoUsd)
  return least === most ? least : `${least} to ${most}`
}

/** Returns the savings: a range where a provider does not report its prompt cache. */
function savedOf({ savedNanoUsd, savedMoreNanoUsd }: Sums): string {
  return range(savedNanoUsd, savedMoreNanoUsd)
}

function noteOfSpent({ unpriced, ceilingNanoUsd, costNanoUsd, savedNanoUsd, savedMoreNanoUsd }: Sums): string {
  const without = `${range(costNanoUsd + savedNanoUsd, savedMoreNanoUsd)} without the gateway`
  const parts = [
    ceilingNanoUsd > 0 && `${usd(ceilingNanoUsd)} of it at the ceiling price, the price is unknown`,
    unpriced > 0 && `and ${count(unpriced)} requests without a known price`,
  ].filter((part) => part !== false)
  return parts.length > 0 ? parts.join('; ') : without
}

function Charts(overview: Overview) {
  const charts = useMemo(() => {
    const steps = stepsOf(overview)
    const times = steps.map(({ fromMs }) => fromMs)
    const column = (value: (sums: Sums) => number | null) => steps.map(({ sums }) => value(sums))
    return {
      times,
      money: [
        { label: 'Spent', colour: 'chart-1', values: column((sums) => sums.costNanoUsd) },
        {
          label: 'Saved, measured',
          colour: 'chart-2',
          values: column((sums) => sums.savedNanoUsd - sums.savedEstimateNanoUsd),
        },
        { label: 'Saved, estimated', colour: 'chart-3', values: column((sums) => sums.savedEstimateNanoUsd) },
      ],
      hits: [
        {
          label: 'Hit rate',
          colour: 'chart-2',
          values: column(({ cacheHits, cacheAttached, cacheMisses }) => {
            const lookups = cacheHits + cacheAttached + cacheMisses
            return lookups === 0 ? null : (cacheHits + cacheAttached) / lookups
          }),
        },
      ],
      tokens: [
        { label: 'Fresh input', colour: 'chart-1', values: column(({ tokens }) => tokens.input) },
        { label: 'Cache read', colour: 'chart-2', values: column(({ tokens }) => tokens.cacheRead) },
        { label: 'Cache written', colour: 'chart-3', values: column(({ tokens }) => tokens.cacheWrite) },
        { label: 'Output', colour: 'chart-4', values: column(({ tokens }) => tokens.output) },
      ],
      latency: [
        {
          label: 'p50',
          colour: 'chart-1',
          values: column((sums) => quantileOf(sums.gatewayTimes, 0.5) ?? null),
        },
        {
          label: 'p95',
          colour: 'chart-4',
          values: column((sums) => quantileOf(sums.gatewayTimes, 0.95) ?? null),
        },
      ],
    }
  }, [overview])
  const total = addUp(overview.sums)
  const { times } = charts
  return (
    <section class="charts" aria-label="Over time">
      <Chart
        title="Money"
        kind="stack"
        times={times}
        series={charts.money}
        print={usd}
        summary={`${usd(total.costNanoUsd)} spent, ${savedOf(total)} saved`}
      />
      <Chart
        title="Cache hits"
        kind="lines"
        times={times}
        series={charts.hits}
        print={(value) => percent(value ?? undefined)}
        most={1}
        summary={`${count(total.cacheHits + total.cacheAttached)} hits, ${count(total.cacheMisses)} misses`}
      />
      <Chart
        title="Tokens"
        kind="stack"
        times={times}
        series={charts.tokens}
        print={count}
        summary={`${count(tokensIn(total.tokens))} in, ${count(total.tokens.output)} out`}
      />
      <Chart
        title="Gateway overhead"
        kind="lines"
        times={times}
        series={charts.latency}
        print={duration}
        summary={`p50 ${duration(quantileOf(total.gatewayTimes, 0.5))}`}
      />
    </section>
  )
}

function Models({ sums }: Pick<Overview, 'sums'>) {
  const models = [...Map.groupBy(sums, ({ provider, model }) => (model === '' ? '' : `${provider}/${model}`))]
    .map(([name, own]) => ({ name, ...addUp(own) }))
    .toSorted((a, b) => b.costNanoUsd - a.costNanoUsd || b.requests - a.requests)
  return (
    <section aria-labelledby="by-model">
      <h2 id="by-model">By model</h2>
      <div class="scroll" tabIndex={0} role="region" aria-labelledby="by-model">
        <table>
          <thead>
            <tr>
              <th scope="col">Model</th>
              <th scope="col">Requests</th>
              <th scope="col">Spent</th>
              <th scope="col">Saved</th>
              <th scope="col">Tokens in</th>
              <th scope="col">Tokens out</th>
              <th scope="col">Provider, on average</th>
            </tr>
          </thead>
          <tbody>
            {models.map((model) => (
              <tr key={model.name}>
                <th scope="row">{model.name || 'No response'}</th>
                <td>{count(model.requests)}</td>
                <td>
                  {usd(model.costNanoUsd)}
                  {model.ceilingNanoUsd > 0 && <small> ceiling</small>}
                </td>
                <td>{savedOf(model)}</td>
                <td>{count(tokensIn(model.tokens))}</td>
                <td>{count(model.tokens.output)}</td>
                <td>{model.asked === 0 ? '–' : duration(model.providerMs / model.asked)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}
