import { useMemo, useState } from 'preact/hooks'
import { NAMED } from '../../../src/core/ports/names.ts'
import type { ListedRequest } from '../../../src/core/telemetry/telemetry.ts'
import { count, visible } from '../format.ts'
import { Choice, SearchField } from '../parts/fields.tsx'
import { FirstRequest } from '../parts/first-request.tsx'
import { RequestCells, RequestHead, useRequestsClass } from '../parts/request-columns.tsx'
import { SavedViews } from '../parts/saved-views.tsx'
import { Busy, Empty, Failure } from '../parts/states.tsx'
import { Totals } from '../parts/totals.tsx'
import { AddFilter, FilterChips, RangeChoice } from '../parts/usage-filters.tsx'
import type { Groups } from '../parts/usage-groups.tsx'
import { Windowed } from '../parts/windowed.tsx'
import { type Route, useNavigation, useQueryInAddress } from '../route.ts'
import { addressOf, usageFilterOf, usageQuery } from '../usage-filter.ts'
import { useData } from '../use-data.ts'
import { useList } from '../use-list.ts'
import { idsOf, useNames } from '../use-names.ts'
import { useSettled } from '../use-settled.ts'

const ROW_HEIGHT = 36
const MOST_REASONS = '12'

/** Members of the address that this page's own fields change. */
interface Fields {
  text: string
  cache: string
  ended: string
}

/** Page of all recorded requests: search, filter, totals, export. */
export function RequestsPage({ route }: { route: Route }) {
  const [fields, setFields] = useState<Fields>(() => fieldsOf(route.query))
  const [chosen, choose] = useState(() => chosenOf(route.query))
  const settled = useSettled(fields)
  const members = useMemo(() => ({ ...settled, ...chosen, text: settled.text.trim() }), [settled, chosen])
  const query = useMemo(() => usageQuery(members), [members])
  const list = useList<ListedRequest>({ path: '/dashboard/api/requests', query, cursorOf: ({ id }) => id })
  const names = useNames(idsOf(list.rows))
  const className = useRequestsClass()
  const hasNames = NAMED.some((name) => name in chosen)
  const { data: sums } = useData<Groups>(
    list.rows.length > 0 || hasNames ? `/dashboard/api/groups?of=rows&${query}` : undefined,
  )
  const change = (part: Partial<Fields>) => setFields((old) => ({ ...old, ...part }))
  useNavigation('requests', (given) => {
    setFields(fieldsOf(given))
    choose(chosenOf(given))
  })
  useQueryInAddress('requests', members)
  const isFiltered = query !== ''
  return (
    <div class="fill">
      <div class="page-head">
        <h1>Requests</h1>
        <SavedViews key={query} page="requests" />
        <RangeChoice page="requests" members={members} defaultRange={undefined} />
        <a class="button small" href={`/dashboard/api/requests.csv?${query}`} download>
          Download CSV
        </a>
        <a class="button small" href={`/dashboard/api/requests.jsonl?${query}`} download>
          JSONL
        </a>
      </div>
      <div class="filters">
        <Filters fields={fields} onChange={change} />
        <AddFilter page="requests" members={members} />
      </div>
      <FilterChips page="requests" members={members} filter={chosen} names={sums?.names} />
      {(settled.ended === 'refused' || settled.ended === 'failed') && (
        <Reasons members={members} latest={list.rows[0]?.reason ?? null} />
      )}
      {sums !== undefined && list.rows.length > 0 && <Totals total={sums.total} />}
      {list.error && <Failure error={list.error} onRetry={list.more} />}
      {list.rows.length === 0 && list.isBusy && <Busy what="requests" />}
      {list.rows.length === 0 && !list.isBusy && !list.error && (
        <Empty title={isFiltered ? 'No matching requests' : 'No requests yet'}>
          {isFiltered ? <p>Try fewer filters or a longer period.</p> : <FirstRequest />}
        </Empty>
      )}
      {list.rows.length > 0 && (
        <Windowed
          className={className}
          label="Requests, newest first"
          rows={list.rows}
          rowHeight={ROW_HEIGHT}
          head={<RequestHead />}
          cells={(request) => <RequestCells {...request} names={names} />}
          onEnd={list.more}
        />
      )}
    </div>
  )
}

interface ReasonsProps {
  readonly members: Readonly<Record<string, string>>
  /** Reason of the newest row in words. */
  readonly latest: string | null
}

/** Reasons of what the list shows, each a link that filters by it, and the newest in words. */
function Reasons({ members, latest }: ReasonsProps) {
  const { data } = useData<Groups>(
    `/dashboard/api/groups?of=rows&by=reason&limit=${MOST_REASONS}&${usageQuery(members)}`,
  )
  if (data === undefined || data.data.length === 0) return null
  return (
    <>
      {latest !== null && <p class="wrap">The latest: {visible(latest)}</p>}
      <ul class="chips" aria-label="Reasons">
        {data.data.map(({ name, requests }) => (
          <li key={name}>
            <a
              href={addressOf('requests', { ...members, reason: name })}
              aria-current={members.reason === name ? 'true' : undefined}
            >
              <span class="value">{visible(name)}</span> {count(requests)}
            </a>
          </li>
        ))}
      </ul>
    </>
  )
}

function Filters({ fields, onChange }: { fields: Fields; onChange: (part: Partial<Fields>) => void }) {
  return (
    <div class="filters">
      <SearchField
        value={fields.text}
        placeholder="model, provider, key id, reason …"
        onText={(text) => onChange({ text })}
      />
      <Choice
        label="Cache"
        value={fields.cache}
        options={{ '': 'any', hit: 'hit', attached: 'attached', miss: 'miss', none: 'no look-up' }}
        onChange={(cache) => onChange({ cache })}
      />
      <Choice
        label="Ended"
        value={fields.ended}
        options={{ '': 'any way', complete: 'whole', failed: 'failed', refused: 'refused' }}
        onChange={(ended) => onChange({ ended })}
      />
    </div>
  )
}

function fieldsOf(query: URLSearchParams): Fields {
  const of = (name: string) => query.get(name) ?? ''
  return { text: of('text'), cache: of('cache'), ended: of('ended') }
}

function chosenOf(query: URLSearchParams): Readonly<Record<string, string>> {
  const reason = query.get('reason')
  return { ...usageFilterOf(query), ...(reason !== null && { reason }) }
}
