import './windowed.css'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

/** Rows above and below the view, so that quick scrolling shows no gaps. */
const SPARE_ROWS = 6

/** List of which only the rows in view are in the document. */
export interface WindowedProps<Row> {
  readonly rows: readonly Row[]
  readonly rowHeight: number
  readonly label: string
  /** Row of names; its cells have the role `columnheader`. */
  readonly head: ComponentChildren
  /** Renders a row's cells; the first holds the link that the arrow keys move between. */
  readonly cells: (row: Row) => ComponentChildren
  /** Called when the view approaches the end. */
  readonly onEnd?: () => void
  readonly className: string
  /** Index of a row that is scrolled into view when it changes; unset or below 0: none. */
  readonly shown?: number
}

/** Table of any length: ten thousand rows cost what forty do. Arrow keys, Home and End move through its links. */
export function Windowed<Row>(props: WindowedProps<Row>) {
  const { rows, rowHeight, label, head, cells, onEnd, className, shown = -1 } = props
  const container = useRef<HTMLDivElement>(null)
  const [view, setView] = useState({ top: 0, height: 800 })
  useEffect(() => {
    const element = container.current
    if (element === null) return
    const look = () => setView({ top: element.scrollTop, height: element.clientHeight })
    const observer = new ResizeObserver(look)
    observer.observe(element)
    element.addEventListener('scroll', look, { passive: true })
    return () => {
      observer.disconnect()
      element.removeEventListener('scroll', look)
    }
  }, [])
  useEffect(() => {
    if (container.current !== null && shown >= 0) scrollToRow(container.current, shown, rowHeight)
  }, [shown, rowHeight])
  const first = Math.max(0, Math.floor(view.top / rowHeight) - SPARE_ROWS)
  const last = Math.min(rows.length, Math.ceil((view.top + view.height) / rowHeight) + SPARE_ROWS)
  const slots = Math.ceil(view.height / rowHeight) + 2 * SPARE_ROWS + 1
  useEffect(() => {
    if (last >= rows.length - SPARE_ROWS) onEnd?.()
  }, [last, rows.length, onEnd])
  return (
    <div
      ref={container}
      class={`windowed ${className}`}
      role="table"
      aria-label={label}
      aria-rowcount={rows.length + 1}
      onKeyDown={(event) => moveFocus(event, { container: container.current, rowHeight, count: rows.length })}
    >
      <div class="head" role="row" aria-rowindex={1}>
        {head}
      </div>
      <div class="rows" role="rowgroup" style={{ height: `${rows.length * rowHeight}px` }}>
        {rows.slice(first, last).map((row, offset) => (
          <div
            // Elements that leave at one end are reused at the other, which costs less than new ones.
            key={(first + offset) % slots}
            class="row"
            role="row"
            aria-rowindex={first + offset + 2}
            data-index={first + offset}
            style={{ transform: `translateY(${(first + offset) * rowHeight}px)`, height: `${rowHeight}px` }}
          >
            {cells(row)}
          </div>
        ))}
      </div>
    </div>
  )
}

interface Moving {
  container: HTMLDivElement | null
  rowHeight: number
  count: number
}

/** Moves the focus to another row's link, after scrolling it into view, since it may not be in the document yet. */
function moveFocus(event: KeyboardEvent, { container, rowHeight, count }: Moving): void {
  const row = (event.target as Element | null)?.closest<HTMLElement>('[data-index]')
  if (container === null || row === null || row === undefined) return
  const index = Number(row.dataset.index)
  const page = Math.floor(container.clientHeight / rowHeight) - 2
  const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page }
  const wanted = event.key === 'Home' ? 0 : event.key === 'End' ? count - 1 : index + (steps[event.key] ?? 0)
  const target = Math.max(0, Math.min(count - 1, wanted))
  if (target === index) return
  event.preventDefault()
  scrollToRow(container, target, rowHeight)
  requestAnimationFrame(() =>
    requestAnimationFrame(() => container.querySelector<HTMLElement>(`[data-index="${target}"] a`)?.focus()),
  )
}

/** Scrolls as little as is needed to show a row whole. */
function scrollToRow(container: HTMLDivElement, index: number, rowHeight: number): void {
  const top = index * rowHeight
  const room = container.clientHeight - 3 * rowHeight
  if (top < container.scrollTop) container.scrollTop = top
  else if (top > container.scrollTop + room) container.scrollTop = top - room
}
