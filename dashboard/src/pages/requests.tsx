import { useCallback, useEffect, useState } from 'preact/hooks'
import type { ListedRequest } from '../../../src/core/telemetry.ts'
import { call } from '../api.ts'
import { count } from '../format.ts'
import { FirstRequest } from '../parts/first-request.tsx'
import { RequestCells, RequestHead } from '../parts/request-columns.tsx'
import { Busy, Empty, Failure } from '../parts/states.tsx'
import { Windowed } from '../parts/windowed.tsx'
import { type Route, replaceQuery } from '../route.ts'

const ROW_HEIGHT = 36
const PAGE = 500
const TYPING_MS = 200
const AGES: Readonly<Record<string, number>> = { '1h': 3_600_000, '24h': 86_400_000, '7d': 604_800_000 }

interface Filter {
  text: string
  cache: string
  ended: string
  age: string
}

/** All requests there are rows of: search, filter, file. */
export function RequestsPage({ route }: { route: Route }) {
  const [filter, setFilter] = useState<Filter>(() => filterOf(route.query))
  const query = useSettled(filter)
  const list = useList(query)
  const change = (part: Partial<Filter>) => setFilter((old) => ({ ...old, ...part }))
  useEffect(() => replaceQuery('requests', { ...query }), [query])
  const isFiltered = Object.values(query).some((value) => value !== '')
  return (
    <div class="fill">
      <div class="page-head">
        <h1>Requests</h1>
        <span class="told" role="status">
          {list.rows.length > 0 && `${count(list.rows.length)}${list.hasMore ? ' and more' : ''}`}
        </span>
        <a class="button" href={`/dashboard/api/requests.csv?${searchOf(query)}`} download>
          Download CSV
        </a>
      </div>
      <Filters filter={filter} onChange={change} />
      {list.error && <Failure error={list.error} onRetry={list.more} />}
      {list.rows.length === 0 && list.isBusy && <Busy what="requests" />}
      {list.rows.length === 0 && !list.isBusy && !list.error && (
        <Empty title={isFiltered ? 'No request fits' : 'No requests yet'}>
          {isFiltered ? <p>Search for less, or for a longer time.</p> : <FirstRequest />}
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
      <label>
        <span>Search</span>
        <input
          type="search"
          value={filter.text}
          placeholder="model, provider, pipeline, id …"
          onInput={({ currentTarget }) => onChange({ text: currentTarget.value })}
        />
      </label>
      <Choice
        label="Cache"
        value={filter.cache}
        options={{ '': 'any', hit: 'hit', attached: 'attached', miss: 'miss', none: 'not asked' }}
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

interface ChoiceProps {
  label: string
  value: string
  options: Readonly<Record<string, string>>
  onChange: (value: string) => void
}

function Choice({ label, value, options, onChange }: ChoiceProps) {
  return (
    <label>
      <span>{label}</span>
      <select value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        {Object.entries(options).map(([name, title]) => (
          <option key={name} value={name}>
            {title}
          </option>
        ))}
      </select>
    </label>
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

/** The filter as it was a moment after the last key. */
function useSettled(filter: Filter): Filter {
  const [settled, settle] = useState(filter)
  useEffect(() => {
    const timer = setTimeout(() => settle(filter), TYPING_MS)
    return () => clearTimeout(timer)
  }, [filter])
  return settled
}

interface List {
  readonly rows: readonly ListedRequest[]
  readonly hasMore: boolean
  readonly isBusy: boolean
  readonly error: Error | undefined
}

/** Requests page by page: `more` asks for the next. */
function useList(query: Filter): List & { more: () => void } {
  const [list, setList] = useState<List & { query: Filter }>({ ...NO_ROWS, query })
  const [wanted, want] = useState({ pages: 1 })
  useEffect(() => {
    setList({ ...NO_ROWS, query })
    want({ pages: 1 })
  }, [query])
  const { rows, hasMore } = list
  const isCurrent = list.query === query
  useEffect(() => {
    if (!isCurrent || !hasMore || rows.length >= wanted.pages * PAGE) return
    const leaving = new AbortController()
    const after = rows.at(-1)?.id
    const path = `/dashboard/api/requests?limit=${PAGE}${after ? `&after=${after}` : ''}&${searchOf(query)}`
    setList((old) => ({ ...old, isBusy: true, error: undefined }))
    call<{ data: ListedRequest[]; has_more: boolean }>(path, { signal: leaving.signal })
      .then(({ data, has_more }) =>
        setList((old) => ({ ...old, rows: [...old.rows, ...data], hasMore: has_more, isBusy: false })),
      )
      .catch((error: Error) => {
        if (!leaving.signal.aborted) setList((old) => ({ ...old, error, isBusy: false }))
      })
    return () => leaving.abort()
  }, [query, isCurrent, wanted, rows, hasMore])
  const { isBusy } = list
  const more = useCallback(() => {
    if (!isBusy) want({ pages: Math.floor(rows.length / PAGE) + 1 })
  }, [rows.length, isBusy])
  return { ...list, more }
}

const NO_ROWS: List = { rows: [], hasMore: true, isBusy: true, error: undefined }
