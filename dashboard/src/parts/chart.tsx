import './chart.css'
import { useEffect, useRef, useState } from 'preact/hooks'
import { moment } from '../format.ts'
import { THEME_EVENT } from './theme.tsx'

/** Series of a chart, with a value for each of its moments. */
export interface Series {
  readonly label: string
  /** Custom property of the style sheet, `--chart-1`. */
  readonly colour: string
  readonly values: readonly (number | null)[]
}

/** Contents of a chart. */
export interface ChartProps {
  readonly title: string
  /** Milliseconds since 1970. */
  readonly times: readonly number[]
  readonly series: readonly Series[]
  /** Kind of chart: stacked bars, or lines. */
  readonly kind: 'stack' | 'lines'
  readonly print: (value: number | null | undefined) => string
  /** Highest possible value, if there is one. */
  readonly most?: number
  /** Text alternative. */
  readonly summary: string
}

/** Chart with its legend; the drawing library is loaded with the first chart in view. */
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
