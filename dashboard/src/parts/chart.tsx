import './chart.css'
import { useEffect, useRef, useState } from 'preact/hooks'
import { moment } from '../format.ts'
import { THEME_EVENT } from './theme.tsx'

/** One series of a chart; values go with the chart's moments. */
export interface Series {
  readonly label: string
  /** A custom property of the style sheet, `--chart-1`. */
  readonly colour: string
  readonly values: readonly (number | null)[]
}

/** What a chart shows. */
export interface ChartProps {
  readonly title: string
  /** Milliseconds since 1970. */
  readonly times: readonly number[]
  readonly series: readonly Series[]
  /** Bars stand upon each other; lines do not. */
  readonly kind: 'stack' | 'lines'
  readonly print: (value: number | null | undefined) => string
  /** The highest value there can be, if there is one. */
  readonly most?: number
  /** What the chart says, for those who do not see it. */
  readonly summary: string
}

/** A chart with its legend; what it is drawn with is loaded when one is first seen. */
export function Chart(props: ChartProps) {
  const place = useRef<HTMLDivElement>(null)
  const [pointed, point] = useState<number | null>(null)
  useEffect(() => {
    const element = place.current
    if (element === null) return
    let chart: { destroy(): void } | undefined
    let isGone = false
    const draw = async () => {
      const { drawChart } = await import('./draw-chart.ts')
      if (isGone) return
      chart?.destroy()
      chart = drawChart(element, { ...props, onPoint: point })
    }
    void draw()
    const redraw = () => void draw()
    const observer = new ResizeObserver(redraw)
    observer.observe(element)
    addEventListener(THEME_EVENT, redraw)
    const system = matchMedia('(prefers-color-scheme: dark)')
    system.addEventListener('change', redraw)
    return () => {
      isGone = true
      observer.disconnect()
      removeEventListener(THEME_EVENT, redraw)
      system.removeEventListener('change', redraw)
      chart?.destroy()
    }
  }, [props])
  return (
    <figure class="chart">
      <figcaption>
        <span class="title">
          {props.title}
          {pointed !== null && <small> from {moment(props.times[pointed] ?? 0)}</small>}
        </span>
        <ul class="legend">
          {props.series.map(({ label, colour, values }) => (
            <li key={label}>
              <span class={`dot ${colour}`} aria-hidden="true" />
              {label}
              {pointed !== null && <span class="at"> {props.print(values[pointed])}</span>}
            </li>
          ))}
        </ul>
      </figcaption>
      <div ref={place} class="plot" role="img" aria-label={`${props.title}: ${props.summary}`} />
    </figure>
  )
}
