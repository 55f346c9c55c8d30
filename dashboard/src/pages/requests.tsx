import { useEffect, useMemo, useState } from 'preact/hooks'
import type { ListedRequest } from '../../../src/core/telemetry/telemetry.ts'
import { count } from '../format.ts'
import { Choice, SearchField } from '../parts/fields.tsx'
import { FirstRequest } from '../parts/first-request.tsx'
import { RequestCells, RequestHead } from '../parts/request-columns.tsx'
import { Busy, Empty, Failure } from '../parts/states.tsx'
import { Windowed } from '../parts/windowed.tsx'
import { type Route, replaceQuery, useNavigation } from '../route.ts'
import { useList } from '../use-list.ts'
import { useSettled } from '../use-settled.ts'

const ROW_HEIGHT = 36
const AGES: Readonly<Record<string, number>> = { '1h': 3_600_000, '24h': 86_400_000, '7d': 604_800_000 }

interface Filter {
  text: string
  cache: string
  ended: string
  age: string
}

/** Page of all recorded requests: search, filter, export. */
export function RequestsPage({ route }: { route: Route }) {
  const [filter, setFilter] = useState<Filter>(() => filterOf(route.query))
  const settled = useSettled(filter)
  const query = useMemo(() => searchOf(settled), [settled])
  const list = useList<ListedRequest>({ path: '/dashboard/api/requests', query, cursorOf: ({ id }) => id })
  const change = (part: Partial<Filter>) => setFilter((old) => ({ ...old, ...part }))
  useNavigation('requests', (given) => setFilter(filterOf(given)))
  useEffect(() => replaceQuery('requests', { ...settled }), [settled])
  const isFiltered = query !== ''
  return (
    <div class="fill">
      <div class="page-head">
        <h1>Requests</h1>
        <span class="muted" role="status">
          {list.rows.length > 0 && `${count(list.rows.length)}${list.hasMore ? ' and more' : ''}`}
        </span>
        <a class="button" href={`/dashboard/api/requests.csv?${query}`} download>
          Download CSV
        </a>
      </div>
      <Filters filter={filter} onChange={change} />
      {list.error && <Failure error={list.error} onRetry={list.more} />}
      {list.rows.length === 0 && list.isBusy && <Busy what="requests" />}
      {list.rows.length === 0 && !list.isBusy && !list.error && (
        <Empty title={isFiltered ? 'No matching requests' : 'No requests yet'}>
          {isFiltered ? <p>Try fewer filters or a longer period.</p> : <FirstRequest />}
        </Empty>
      )}
      {list.rows.length > 0 && (
        <Windowed
          className="requests"
          label="Requests, newest first"
          rows={list.rows}
          rowHeight={ROW_HEIGHT}
          head={<RequestHead />}
          cells={(request) => <RequestCells {...request} />}
          onEnd={list.more}
        />
      )}
    </div>
  )
}

function Filters({ filter, onChange }: { filter: Filter; onChange: (part: Partial<Filter>) => void }) {
  return (
    <div class="filters">
      <SearchField
        value={filter.text}
        placeholder="model, provider, key id, reason …"
        onChange={(text) => onChange({ text })}
      />
      <Choice
        label="Cache"
        value={filter.cache}
        options={{ '': 'any', hit: 'hit', attached: 'attached', miss: 'miss', none: 'no look-up' }}
        onChange={(cache) => onChange({ cache })}
      />
      <Choice
        label="Ended"
        value={filter.ended}
        options={{ '': 'any way', complete: 'whole', failed: 'failed' }}
        onChange={(ended) => onChange({ ended })}
      />
      <Choice
        label="Since"
        value={filter.age}
        options={{ '': 'the first', '1h': 'an hour', '24h': 'a day', '7d': 'a week' }}
        onChange={(age) => onChange({ age })}
      />
    </div>
  )
}

function filterOf(query: URLSearchParams): Filter {
  const of = (name: string) => query.get(name) ?? ''
  return { text: of('text'), cache: of('cache'), ended: of('ended'), age: of('age') }
}

function searchOf({ text, cache, ended, age }: Filter): string {
  const ageMs = AGES[age]
  const given = { text: text.trim(), cache, ended, fromMs: ageMs === undefined ? '' : String(Date.now() - ageMs) }
  return new URLSearchParams(Object.entries(given).filter(([, value]) => value !== '')).toString()
}
