import { useEffect, useRef, useState } from 'preact/hooks'
import type { Names } from '../../src/core/ports/names.ts'
import type { ListedRequest } from '../../src/core/telemetry/telemetry.ts'
import { call } from './api.ts'
import { keyTitle } from './parts/named-value.tsx'
import type { RequestRow } from './parts/request-columns.tsx'

const MOST_ROWS = 200
const FIRST_ROWS = 50
/** Shortest time between renderings: a busy gateway would cause hundreds a second. */
const DRAW_MS = 100

/** State of the live feed. */
export interface Feed {
  /** Newest first, at most 200. */
  readonly rows: readonly RequestRow[]
  /** Number of requests since the pause. */
  readonly waiting: number
  /** Number of requests that the gateway could not send. */
  readonly dropped: number
  readonly state: 'opening' | 'open' | 'broken'
}

/** Follows the live feed; while paused, new requests are buffered and not shown. */
export function useFeed(isPaused: boolean): Feed {
  const [feed, setFeed] = useState<Feed>({ rows: [], waiting: 0, dropped: 0, state: 'opening' })
  const [, draw] = useState(0)
  const waiting = useRef<RequestRow[]>([])
  const paused = useRef(isPaused)
  paused.current = isPaused
  const take = useRef(() => {})
  take.current = () => {
    if (waiting.current.length === 0) return
    if (paused.current) return draw((old) => old + 1)
    const fresh = waiting.current.splice(0)
    setFeed((old) => ({ ...old, rows: merged(fresh, old.rows) }))
  }
  useEffect(() => {
    const source = new EventSource('/dashboard/api/live')
    const set = (part: Partial<Feed>) => setFeed((old) => ({ ...old, ...part }))
    let timer: ReturnType<typeof setTimeout> | undefined
    const soon = () => {
      timer ??= setTimeout(() => {
        timer = undefined
        take.current()
      }, DRAW_MS)
    }
    source.onopen = () => {
      // Requests that ended before the page was opened, or while it was disconnected.
      call<{ data: ListedRequest[] }>(`/dashboard/api/requests?limit=${FIRST_ROWS}`)
        .then(({ data }) => setFeed((old) => ({ ...old, rows: merged(data, old.rows), state: 'open' })))
        .catch(() => set({ state: 'open' }))
    }
    source.onerror = () => set({ state: 'broken' })
    source.onmessage = ({ data }) => {
      // Safe: the feed's own shape.
      waiting.current.push(JSON.parse(data) as RequestRow)
      if (waiting.current.length > MOST_ROWS) waiting.current.shift()
      soon()
    }
    source.addEventListener('dropped', ({ data }) =>
      setFeed((old) => ({ ...old, dropped: old.dropped + Number(data) })),
    )
    return () => {
      clearTimeout(timer)
      source.close()
    }
  }, [])
  // Show the buffered requests when the pause ends.
  useEffect(() => take.current(), [isPaused])
  return { ...feed, waiting: waiting.current.length }
}

/** Merges without duplicates, newest first; rows with steps take precedence. */
function merged(fresh: readonly RequestRow[], old: readonly RequestRow[]): RequestRow[] {
  const byId = new Map<string, RequestRow>()
  for (const row of [...old, ...fresh]) if (byId.get(row.id)?.steps === undefined) byId.set(row.id, row)
  return [...byId.values()].toSorted((a, b) => (a.id < b.id ? 1 : -1)).slice(0, MOST_ROWS)
}

interface LiveFilter {
  readonly text: string
  readonly failedOnly: boolean
  readonly names: Names
}

/** Tests a request against the filter of the page. */
export function isShown(request: RequestRow, { text, failedOnly, names }: LiveFilter): boolean {
  if (failedOnly && request.outcome === 'complete') return false
  const { id, requestId, modelAsked, modelServed, provider, pipeline, keyId, userId, reason } = request
  const key = keyTitle({ keyId, userId, names })
  const searched = [id, requestId, modelAsked, modelServed, provider, pipeline, keyId, userId, key, reason]
  return searched.join(' ').toLowerCase().includes(text.trim().toLowerCase())
}
