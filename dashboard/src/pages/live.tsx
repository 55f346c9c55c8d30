import './live.css'
import { useState } from 'preact/hooks'
import { count } from '../format.ts'
import { Check, SearchField } from '../parts/fields.tsx'
import { FirstRequest } from '../parts/first-request.tsx'
import { InFlight } from '../parts/in-flight.tsx'
import { RequestCells, RequestHead, useRequestsClass } from '../parts/request-columns.tsx'
import { Busy, Empty } from '../parts/states.tsx'
import { Windowed } from '../parts/windowed.tsx'
import { type Feed, isShown, useFeed } from '../use-feed.ts'
import { idsOf, useNames } from '../use-names.ts'

const ROW_HEIGHT = 36

/** Page of requests as their replies end. */
export function LivePage() {
  const [isPaused, pause] = useState(false)
  const [text, setText] = useState('')
  const [failedOnly, setFailedOnly] = useState(false)
  const feed = useFeed(isPaused)
  const names = useNames(idsOf(feed.rows))
  const className = useRequestsClass()
  const rows = feed.rows.filter((request) => isShown(request, { text, failedOnly, names }))
  return (
    <div class="fill">
      <div class="page-head">
        <h1>Live</h1>
        <Connection feed={feed} isPaused={isPaused} />
      </div>
      <div class="filters">
        <SearchField label="Filter" value={text} placeholder="model, key, person, reason …" onText={setText} />
        <Check label="Failed only" value={failedOnly} onChange={setFailedOnly} />
        <button type="button" aria-pressed={isPaused} onClick={() => pause(!isPaused)}>
          {isPaused ? `Resume${feed.waiting > 0 ? ` (${count(feed.waiting)} new)` : ''}` : 'Pause'}
        </button>
      </div>
      <InFlight />
      {feed.dropped > 0 && (
        <p class="notice" role="status">
          {count(feed.dropped)} requests came faster than this page could take them and are not shown here. They are in
          the <a href="#/requests">list of requests</a>.
        </p>
      )}
      {feed.rows.length === 0 && feed.state === 'opening' && <Busy what="the feed" />}
      {feed.rows.length === 0 && feed.state === 'open' && (
        <Empty title="Waiting for requests">
          <p>They appear here when their reply ends. This one needs no provider key:</p>
          <FirstRequest />
        </Empty>
      )}
      {feed.rows.length > 0 && rows.length === 0 && <Empty title="No matching requests" />}
      {rows.length > 0 && (
        <Windowed
          className={`${className} live`}
          label="Requests, newest first"
          rows={rows}
          rowHeight={ROW_HEIGHT}
          head={<RequestHead />}
          cells={(request) => <RequestCells {...request} names={names} />}
        />
      )}
    </div>
  )
}

function Connection({ feed: { state }, isPaused }: { feed: Feed; isPaused: boolean }) {
  const word =
    state === 'open' ? (isPaused ? 'paused' : 'connected') : state === 'opening' ? 'connecting' : 'connecting again'
  return (
    <span class={`connection ${state === 'open' && !isPaused ? 'is-open' : ''}`} role="status">
      {word}
    </span>
  )
}
