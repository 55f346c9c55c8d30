import 'uplot/dist/uPlot.min.css'
import uPlot from 'uplot'
import { stepLabel } from '../format.ts'
import type { ChartProps } from './chart.tsx'

const HEIGHT = 188
const BAR_SHARE = 0.72
const WIDEST_BAR = 36
/** Width of `$0.000153`, the longest label, in pixels. */
const AXIS_WIDTH = 70
const TWO_DAYS_SECONDS = 172_800

/** Chart to draw, with the callback for the step under the pointer. */
export interface DrawnChart extends ChartProps {
  readonly onPoint: (index: number | null) => void
}

/** Draws a chart into an element, in the colours of the current theme. */
export function drawChart(element: HTMLElement, { times, series, kind, print, most, onPoint }: DrawnChart): uPlot {
  const style = getComputedStyle(element)
  const colourOf = (name: string) => style.getPropertyValue(`--${name}`).trim()
  const drawn = kind === 'stack' ? stacked(series.map(({ values }) => values)) : series.map(({ values }) => values)
  const bars = uPlot.paths.bars?.({ size: [BAR_SHARE, WIDEST_BAR] })
  const axis: uPlot.Axis = {
    stroke: colourOf('faint'),
    font: '11px system-ui',
    grid: { stroke: colourOf('hair'), width: 1 },
    ticks: { show: false },
  }
  const lines = series.map(({ label, colour }): uPlot.Series => {
    const paint = colourOf(colour)
    return kind === 'stack'
      ? { label, stroke: paint, fill: paint, width: 0, points: { show: false }, ...(bars && { paths: bars }) }
      : { label, stroke: paint, width: 2, points: { size: 6, fill: paint } }
  })
  // The top of a stack is drawn first, so that lower series cover its lower part.
  const order = kind === 'stack' ? [...lines.keys()].reverse() : [...lines.keys()]
  const highest = Math.max(most ?? 0, ...drawn.flat().map((value) => value ?? 0))
  const half = ((times[1] ?? 0) - (times[0] ?? 0)) / 2000
  return new uPlot(
    {
      width: Math.max(element.clientWidth, 120),
      height: HEIGHT,
      padding: [10, 8, 0, 0],
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, points: { show: kind === 'lines' } },
      scales: {
        x: { time: true, range: (_, least, last) => [least - half, last + half] },
        y: { range: () => [0, highest === 0 ? 1 : highest * (most === undefined ? 1.1 : 1)] },
      },
      axes: [
        { ...axis, size: 28, values: (_, ticks) => momentsOf(ticks) },
        // An empty chart has no meaningful scale.
        {
          ...axis,
          size: AXIS_WIDTH,
          values: (_, ticks) => ticks.map((tick) => (tick > highest * 2 ? '' : print(tick))),
        },
      ],
      series: [{ label: 'From' }, ...order.flatMap((index) => lines[index] ?? [])],
      hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)] },
    },
    // Safe: one list of numbers for the moments, and one for each series.
    [
      times.map((ms) => ms / 1000),
      ...order.flatMap((index) => (drawn[index] ? [drawn[index]] : [])),
    ] as uPlot.AlignedData,
    element,
  )
}

/** Formats the labels: times for a day or two, else days. */
function momentsOf(seconds: readonly number[]): string[] {
  const isShort = (seconds.at(-1) ?? 0) - (seconds[0] ?? 0) < TWO_DAYS_SECONDS
  return seconds.map((at) => stepLabel(at * 1000, isShort))
}

/** Stacks each series on the previous ones. */
function stacked(columns: readonly (readonly (number | null)[])[]): number[][] {
  const sums: number[] = []
  return columns.map((values) =>
    values.map((value, index) => {
      sums[index] = (sums[index] ?? 0) + Math.max(0, value ?? 0)
      return sums[index]
    }),
  )
}
