import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { SearchField } from '../../parts/fields.tsx'
import { Busy, Empty, Failure } from '../../parts/states.tsx'
import { useData } from '../../use-data.ts'
import { useSettled } from '../../use-settled.ts'
import type { ListReply } from './types.ts'

const MOST = 500

interface SubjectListProps<Row> {
  /** Name of the list's route, and of what is listed. */
  readonly name: 'people' | 'teams' | 'keys' | 'tags'
  readonly query?: string
  readonly hasSearch?: boolean
  /** Form that creates a row. */
  readonly create?: (reload: () => void) => ComponentChildren
  readonly row: (row: Row, reload: () => void) => ComponentChildren
}

/** List of people, teams, keys or tags, with a search and a form that adds one. */
export function SubjectList<Row>({ name, query = '', hasSearch = true, create, row }: SubjectListProps<Row>) {
  const [search, setSearch] = useState('')
  const settled = useSettled(search.trim())
  const filter = hasSearch ? `?limit=${MOST}&search=${encodeURIComponent(settled)}${query}` : ''
  const { data, error, isBusy, reload } = useData<ListReply<Row>>(`/v1/admin/${name}${filter}`)
  return (
    <>
      <div class="filters">
        {hasSearch && <SearchField value={search} placeholder="name, id, team …" onText={setSearch} />}
      </div>
      {create?.(reload)}
      {error && <Failure error={error} onRetry={reload} />}
      {data === undefined && isBusy && <Busy what={name} />}
      {data?.data.length === 0 && <Empty title={settled === '' ? `No ${name} yet` : 'None match'} />}
      <div class="subjects">{data?.data.map((each) => row(each, reload))}</div>
      {data?.has_more && <p class="muted">The first {MOST}. Search for others.</p>}
    </>
  )
}

/** Form that is folded away until it is wanted. */
export function NewForm({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <details>
      <summary>{title}</summary>
      {children}
    </details>
  )
}
