import type { ListedRequest, TraceStep } from '../../core/telemetry/telemetry.ts'
import { tokensIn } from '../../core/telemetry/tokens-in.ts'
import { count, duration, NOTHING, timeOfDay, usd } from '../terminal/figures.ts'
import type { Paint } from '../terminal/paint.ts'
import { columnsOf, toWidth, visible } from '../terminal/visible.ts'

/** Request as the live feed sends it. */
export type LiveRequest = ListedRequest & { readonly steps?: readonly TraceStep[] }

type Style = Parameters<Paint>[0]

interface Column {
  readonly title: string
  /** Width in columns of the terminal; `flexible`: a share of the space that the others leave. */
  readonly width: number | 'flexible'
  /** Narrowest terminal, in columns, that shows the column. */
  readonly from: number
  readonly fill?: 'start'
  readonly cell: (request: LiveRequest, width: number) => { text: string; style?: Style }
}

/** Least characters of a model's name; a shorter cut is unreadable. */
const SHORTEST_MODEL = 12
const LONGEST_MODEL = 28
const MODEL_SHARE = 0.63
const CACHE_WORDS = { hit: 'hit', attached: 'join', miss: 'miss', none: NOTHING } as const
/** Results of plugins that did nothing notable. */
const QUIET = /^(ran|idle)$/

const COLUMNS: readonly Column[] = [
  { title: 'time', width: 8, from: 0, cell: ({ startedAtMs, totalMs }) => dim(timeOfDay(startedAtMs + totalMs)) },
  {
    title: 'st.',
    width: 3,
    from: 0,
    cell: (request) => ({ text: String(request.status ?? NOTHING), style: statusStyle(request) }),
  },
  {
    title: 'model',
    width: 'flexible',
    from: 0,
    cell: ({ modelServed, modelAsked }) => ({ text: visible(modelServed ?? modelAsked) }),
  },
  {
    title: 'hit?',
    width: 4,
    from: 0,
    cell: ({ cache }) => ({
      text: CACHE_WORDS[cache],
      style: cache === 'hit' || cache === 'attached' ? 'green' : 'dim',
    }),
  },
  { title: 'in/out', width: 9, from: 60, fill: 'start', cell: (request) => ({ text: tokensOf(request) }) },
  { title: 'cost', width: 8, from: 50, fill: 'start', cell: costCell },
  { title: 'saved', width: 8, from: 72, fill: 'start', cell: savedCell },
  { title: 'took', width: 6, from: 40, fill: 'start', cell: ({ totalMs }) => ({ text: duration(totalMs) }) },
  { title: 'tags', width: 16, from: 140, cell: ({ tags = [] }) => dim(visible(tags.join(' '))) },
  {
    title: 'modules',
    width: 'flexible',
    from: 76,
    cell: (request, width) =>
      request.outcome === 'complete'
        ? dim(modulesOf(request.steps ?? [], width))
        : { text: endOf(request, width), style: 'yellow' },
  },
]

/** Returns the names of the columns, for a terminal of `columns` columns. */
export function headLine(columns: number, paint: Paint): string {
  const cells = layout(columns).map(({ title, fill, columns: width }) => toWidth(title, width, fill))
  return paint('dim', cells.join(' ').trimEnd())
}

/** Returns a request on one line, for a terminal of `columns` columns. */
export function requestLine(request: LiveRequest, columns: number, paint: Paint): string {
  const cells = layout(columns).map(({ cell, fill, columns: width }, index, { length }) => {
    const { text, style } = cell(request, width)
    const fitted = index === length - 1 ? toWidth(text, width, fill).trimEnd() : toWidth(text, width, fill)
    return style === undefined ? fitted : paint(style, fitted)
  })
  return cells.join(' ')
}

function layout(columns: number): (Column & { columns: number })[] {
  const shown = COLUMNS.filter(({ from }) => columns >= from)
  const fixed = shown.reduce((sum, { width }) => sum + (width === 'flexible' ? 0 : width), 0)
  const free = Math.max(SHORTEST_MODEL, columns - fixed - (shown.length - 1))
  const isAlone = shown.filter(({ width }) => width === 'flexible').length === 1
  const share = Math.max(SHORTEST_MODEL, Math.floor(free * MODEL_SHARE))
  const model = Math.min(LONGEST_MODEL, isAlone ? free : share)
  return shown.map((column) => {
    if (column.width !== 'flexible') return { ...column, columns: column.width }
    return { ...column, columns: column.title === 'model' ? model : Math.max(0, free - model) }
  })
}

function dim(text: string): { text: string; style: Style } {
  return { text, style: 'dim' }
}

function statusStyle({ status, outcome }: LiveRequest): Style {
  if (status === null || status >= 500) return 'red'
  return status >= 400 || outcome !== 'complete' ? 'yellow' : 'green'
}

function tokensOf({ tokens }: LiveRequest): string {
  if (tokens === null) return NOTHING
  return `${count(tokensIn(tokens))}/${count(tokens.output)}`
}

/** Renders the cost; a model without a known price is charged at the ceiling, hence at most this amount. */
function costCell({ costNanoUsd, priceSource }: LiveRequest): { text: string; style?: Style } {
  return priceSource === 'ceiling' && costNanoUsd !== 0
    ? { text: `≤${usd(costNanoUsd)}`, style: 'yellow' }
    : { text: usd(costNanoUsd) }
}

/** Returns the savings in nano-USD; `null` where they are unknown. */
function savedOf({ costNanoUsd, counterfactualNanoUsd }: ListedRequest): number | null {
  return costNanoUsd === null || counterfactualNanoUsd === null ? null : counterfactualNanoUsd - costNanoUsd
}

function savedCell(request: LiveRequest): { text: string; style: Style } {
  const saved = savedOf(request)
  if (saved === null || saved === 0) return dim(NOTHING)
  const isGuess = request.counterfactualBasis === 'estimate'
  return { text: `${isGuess ? '~' : ''}${usd(saved)}`, style: saved > 0 ? 'green' : 'yellow' }
}

/** Renders the failure of a request, which precedes its plugins. */
function endOf({ outcome, reason, steps = [] }: LiveRequest, width: number): string {
  if (typeof reason === 'string') return `${outcome} ${visible(reason)}`
  return `${outcome} ${modulesOf(steps, width - outcome.length - 1)}`.trimEnd()
}

/**
 * Renders the plugins' results in `columns` columns: all of them, else those with a result, else by initials (`ec:hit
 * cg`), else as many as fit.
 */
export function modulesOf(steps: readonly TraceStep[], columns: number): string {
  const telling = steps.filter(({ action }) => action !== 'miss' && !QUIET.test(action))
  const tries = [wordsOf(steps, whole), wordsOf(telling, whole), wordsOf(steps, initials), wordsOf(telling, initials)]
  const fitting = tries.find((words) => words !== '' && columnsOf(words) <= columns)
  if (fitting !== undefined || columns < 2) return fitting ?? ''
  return toWidth(tries[2] ?? '', columns).trimEnd()
}

function wordsOf(steps: readonly TraceStep[], nameOf: (module: string) => string): string {
  return steps
    .map(({ module, action }) => visible(QUIET.test(action) ? nameOf(module) : `${nameOf(module)}:${action}`))
    .join(' ')
}

function whole(module: string): string {
  return module
}

/** Returns the initials: `exact-cache` → `ec`, `compress` → `co`. */
function initials(module: string): string {
  return module.includes('-') ? module.replaceAll(/(\w)\w*-?/g, '$1') : module.slice(0, 2)
}
