import { useEffect, useMemo } from 'preact/hooks'
import type { LossSums, UsageSums } from '../../../src/core/telemetry/telemetry.ts'
import { quantileOf } from '../../../src/core/telemetry/time-buckets.ts'
import { tokensIn } from '../../../src/core/telemetry/tokens-in.ts'
import { GROUPS, type GroupBy } from '../../../src/core/telemetry/usage.ts'
import { count, duration, NOTHING, percent, savedRange, usd, usdRange } from '../format.ts'
import { addUp, type Sums, stepsOf } from '../overview-sums.ts'
import { Chart } from '../parts/chart.tsx'
import { Card } from '../parts/facts.tsx'
import { FirstRequest } from '../parts/first-request.tsx'
import { Losses } from '../parts/losses.tsx'
import { SavedViews } from '../parts/saved-views.tsx'
import { Busy, Empty, Failure } from '../parts/states.tsx'
import { FilterChips, RangeChoice } from '../parts/usage-filters.tsx'
import { type Groups, UsageTable } from '../parts/usage-groups.tsx'
import type { Route } from '../route.ts'
import { useSession } from '../session.tsx'
import { addressOf, usageFilterOf, usageQuery } from '../usage-filter.ts'
import { useData } from '../use-data.ts'

interface Overview {
  readonly steps: readonly number[]
  readonly sums: readonly UsageSums[]
  readonly losses: readonly LossSums[]
}

const REFRESH_MS = 10_000
/** Groups that are read from rows: they are not loaded again by themselves. */
const SLOW: ReadonlySet<GroupBy> = new Set(['conversation', 'reason'])

/** Page of cost, savings and latency, by any property. */
export function OverviewPage({ route }: { route: Route }) {
  const { mode, role } = useSession()
  const hasPeople = mode === 'cloud' && role !== 'member'
  const { conversation: _, ...filter } = usageFilterOf(route.query)
  const by = GROUPS.find((name) => name === route.query.get('by')) ?? 'model'
  const period = filter.from === undefined ? { range: filter.range ?? '24h' } : {}
  const asked = { ...filter, ...period }
  const { data, error, isBusy, reload } = useData<Overview>(`/dashboard/api/overview?${usageQuery(asked)}`)
  const groups = useData<Groups>(`/dashboard/api/groups?${usageQuery({ ...asked, by, limit: '200' })}`)
  const { reload: reloadGroups } = groups
  useEffect(() => {
    const load = () => {
      if (document.visibilityState !== 'visible') return
      reload()
      if (!SLOW.has(by)) reloadGroups()
    }
    const timer = setInterval(load, REFRESH_MS)
    return () => clearInterval(timer)
  }, [reload, reloadGroups, by])
  const total = useMemo(() => data && addUp(data.sums), [data])
  const members = { ...filter, by: route.query.get('by') ?? undefined }
  return (
    <>
      <div class="page-head">
        <h1>Overview</h1>
        {hasPeople && (
          <a class="button small" href={addressOf('', { range: 'yesterday', by: 'person' })}>
            Yesterday by person
          </a>
        )}
        <SavedViews page="" />
        <RangeChoice page="" members={members} defaultRange="24h" />
      </div>
      <FilterChips page="" members={members} filter={filter} names={groups.data?.names} />
      {error && <Failure error={error} onRetry={reload} />}
      {data === undefined && isBusy && <Busy what="the figures" />}
      {data !== undefined &&
        total !== undefined &&
        (total.requests === 0 ? (
          <NothingYet />
        ) : (
          <>
            <Cards total={total} />
            <Charts {...data} />
            <UsageTable by={by} groups={groups} filter={asked} members={members} />
            <Losses losses={data.losses} />
          </>
        ))}
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

function Cards({ total }: { total: Sums }) {
  const lookups = total.cacheHits + total.cacheAttached + total.cacheMisses
  const input = tokensIn(total.tokens)
  const measured = total.savedNanoUsd - total.savedEstimateNanoUsd
  return (
    <section class="cards lead" aria-label="Figures">
      <Card title="Spent" value={usd(total.costNanoUsd)} note={noteOfSpent(total)} />
      <Card
        title="Saved"
        value={savedRange(total)}
        note={`${usd(measured)} measured, ${usdRange(total.savedEstimateNanoUsd, total.savedMoreNanoUsd)} estimated`}
      />
      <Card
        title="Requests"
        value={count(total.requests)}
        note={`${count(total.errors)} errors, ${count(total.unfinished)} unfinished`}
      />
      <Card
        title="Cache hits"
        value={lookups === 0 ? NOTHING : percent((total.cacheHits + total.cacheAttached) / lookups)}
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

function noteOfSpent({ unpriced, ceilingNanoUsd, costNanoUsd, savedNanoUsd, savedMoreNanoUsd }: Sums): string {
  const without = `${usdRange(costNanoUsd + savedNanoUsd, savedMoreNanoUsd)} without the gateway`
  const parts = [
    ceilingNanoUsd > 0 && `${usd(ceilingNanoUsd)} of it at the ceiling price, the price is unknown`,
    unpriced > 0 && `and ${count(unpriced)} requests without a known price`,
  ].filter((part) => part !== false)
  return parts.length > 0 ? parts.join('; ') : without
}

function Charts(overview: Overview) {
  const charts = useMemo(() => {
    const steps = stepsOf(overview.steps, overview.sums)
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
        summary={`${usd(total.costNanoUsd)} spent, ${savedRange(total)} saved`}
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
