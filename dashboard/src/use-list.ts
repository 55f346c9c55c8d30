import { useCallback, useEffect, useState } from 'preact/hooks'
import { call } from './api.ts'

const PAGE = 500

/** Page of a list, as its route replies. */
export interface ListPage<Row> {
  readonly data: readonly Row[]
  readonly has_more?: boolean
  readonly next_cursor?: string | null
}

/** List that is loaded page by page. */
export interface List<Row> {
  readonly rows: readonly Row[]
  readonly hasMore: boolean
  readonly isBusy: boolean
  readonly error: Error | undefined
  /** Loads the next page; retries after an error. */
  more(): void
}

/** Options of a list. */
export interface ListOptions<Row> {
  readonly path: string
  /** Filter as a query; a change starts a new list. */
  readonly query: string
  /** Returns the route's `after` for a row, where it sends no cursor. */
  readonly cursorOf?: (row: Row) => string
  /** Returns the page in a reply that has more members. */
  readonly pageOf?: (reply: unknown) => ListPage<Row>
}

interface State<Row> {
  readonly query: string
  readonly rows: readonly Row[]
  readonly pages: number
  /** `null`: the last page is loaded. */
  readonly cursor: string | null
  readonly isBusy: boolean
  readonly error: Error | undefined
}

/** Returns a list from its first page on. */
export function useList<Row>({ path, query, cursorOf, pageOf = wholeReply }: ListOptions<Row>): List<Row> {
  const [list, setList] = useState<State<Row>>(() => emptyList(query))
  const [wanted, want] = useState({ pages: 1 })
  const { rows, pages, cursor, isBusy, error } = list
  const isCurrent = list.query === query
  useEffect(() => {
    if (isCurrent) return
    setList(emptyList(query))
    want({ pages: 1 })
  }, [query])
  useEffect(() => {
    if (!isCurrent || cursor === null || pages >= wanted.pages) return
    const leaving = new AbortController()
    const after = cursor === '' ? '' : `&after=${encodeURIComponent(cursor)}`
    setList((old) => ({ ...old, isBusy: true, error: undefined }))
    call<unknown>(`${path}?limit=${PAGE}${after}&${query}`, { signal: leaving.signal })
      .then((reply) => setList((old) => taken(old, pageOf(reply), cursorOf)))
      .catch((error: Error) => {
        if (!leaving.signal.aborted) setList((old) => ({ ...old, error, isBusy: false }))
      })
    return () => leaving.abort()
  }, [path, query, isCurrent, wanted, pages])
  const more = useCallback(() => {
    if (!isBusy) want({ pages: pages + 1 })
  }, [pages, isBusy])
  return { rows, hasMore: cursor !== null, isBusy, error, more }
}

function wholeReply<Row>(reply: unknown): ListPage<Row> {
  return reply as ListPage<Row> // safe: the shape is that of the route
}

function emptyList<Row>(query: string): State<Row> {
  return { query, rows: [], pages: 0, cursor: '', isBusy: true, error: undefined }
}

function taken<Row>(
  old: State<Row>,
  { data, has_more: hasMore = false, next_cursor: cursor = null }: ListPage<Row>,
  cursorOf: ListOptions<Row>['cursorOf'],
): State<Row> {
  const last = data.at(-1)
  const next = cursorOf === undefined ? cursor : hasMore && last !== undefined ? cursorOf(last) : null
  return { ...old, rows: [...old.rows, ...data], pages: old.pages + 1, cursor: next, isBusy: false }
}
