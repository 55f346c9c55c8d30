import type { FinishedRequest, TokensByClass } from '../../core/telemetry/telemetry.ts'
import { tokensIn } from '../../core/telemetry/tokens-in.ts'
import { count, duration, fineUsd, NOTHING, timeOfDay } from '../terminal/figures.ts'
import type { Paint } from '../terminal/paint.ts'
import { columnsOf, toWidth, visible } from '../terminal/visible.ts'
import type { Answer } from './answer.ts'
import type { PastRequest } from './past.ts'
import type { Replayed } from './send-again.ts'

/** Both requests, and the comparison of their replies. */
export interface Comparison {
  readonly past: PastRequest
  readonly now: Replayed
  readonly answers: { readonly before: Answer | undefined; readonly now: Answer | undefined }
  /** `unknown`: one reply cannot be parsed, or was not kept whole. */
  readonly verdict: 'same' | 'different' | 'unknown'
}

const LABEL = 9
const GAP = '  '
/** Excerpt of two replies around their first difference, in characters. */
const BEFORE_DIFFERENCE = 12

/** Compares the answers of a past request and of its replay. */
export function compare(past: PastRequest, now: Replayed, answers: Comparison['answers']): Comparison {
  if (answers.before === undefined || answers.now === undefined) return { past, now, answers, verdict: 'unknown' }
  const isSame = answers.before.comparable === answers.now.comparable
  return { past, now, answers, verdict: isSame ? 'same' : 'different' }
}

/** Returns the comparison as JSON. */
export function toJson({ past, now, answers, verdict }: Comparison): object {
  const { trace: _, ...before } = past.request
  const { trace: __, ...row } = now.row ?? {}
  return {
    answers: verdict,
    before: { ...before, answer: answers.before?.text ?? null },
    now: { status: now.status, pipeline: now.pipeline, ...row, answer: answers.now?.text ?? null },
  }
}

/** Returns the comparison as text for a terminal of `columns` columns. */
export function render(comparison: Comparison, columns: number, paint: Paint): string {
  const { past, now } = comparison
  const { request, body } = past
  const kind = request.isStream ? 'a stream' : 'one reply'
  const lines = [
    `${request.requestId} of ${timeOfDay(request.startedAtMs)}: ${request.route}, ${kind}, ${Buffer.byteLength(body)} bytes`,
    '',
    paint('dim', row(['', 'before', 'now'], columns)),
    ...rowsOf(request, now).map((cells) => row(cells, columns)),
    '',
    `${toWidth('pipeline', LABEL)}${GAP}${visible(request.pipeline) || 'none'}`,
    ...(now.pipeline === request.pipeline ? [] : [`${' '.repeat(LABEL)}→ ${visible(now.pipeline) || 'none'}`]),
    '',
    ...verdictOf(comparison, columns, paint),
  ]
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`
}

function rowsOf(before: FinishedRequest, { status, row: now }: Replayed): string[][] {
  const both = (title: string, show: (request: FinishedRequest) => string): string[] => [
    title,
    show(before),
    now === undefined ? NOTHING : show(now),
  ]
  return [
    ['status', String(before.status ?? NOTHING), String(status)],
    both('model', ({ modelServed, modelAsked }) => visible(modelServed ?? modelAsked)),
    both('cache', ({ cache }) => (cache === 'none' ? NOTHING : cache)),
    both('tokens', ({ tokens }) =>
      tokens === null ? NOTHING : `${count(tokensIn(tokens))} in, ${count(tokens.output)} out`,
    ),
    both('input', ({ tokens }) => (tokens === null ? NOTHING : sharesOf(tokens))),
    both('billed', ({ costNanoUsd }) => fineUsd(costNanoUsd)),
    both('gateway', ({ gatewayMs }) => duration(gatewayMs)),
    both('provider', ({ providerMs }) => duration(providerMs)),
    both('took', ({ totalMs }) => duration(totalMs)),
  ]
}

/**
 * Returns the shares of the input tokens: fresh, read from the provider's prompt cache, written to it; each has its own
 * price.
 */
function sharesOf(tokens: TokensByClass): string {
  const percent = (part: number) => `${Math.round((100 * part) / Math.max(1, tokensIn(tokens)))}%`
  return `${percent(tokens.input)} new ${percent(tokens.cacheRead)} read ${percent(tokens.cacheWrite)} written`
}

function row([label = '', before = '', now = '']: readonly string[], columns: number): string {
  const width = Math.min(32, Math.max(10, Math.floor((columns - LABEL - 2 * GAP.length) / 2)))
  return [toWidth(label, LABEL), toWidth(before, width), toWidth(now, width)].join(GAP)
}

function verdictOf({ verdict, answers }: Comparison, columns: number, paint: Paint): string[] {
  switch (verdict) {
    case 'same':
      return [paint('green', 'The replies are equal.')]
    case 'unknown':
      return [paint('yellow', 'The replies cannot be compared: one was not kept whole, or is not a model’s.')]
    case 'different':
      return differenceOf(answers.before?.text ?? '', answers.now?.text ?? '', columns, paint)
    default:
      return verdict satisfies never
  }
}

function differenceOf(before: string, now: string, columns: number, paint: Paint): string[] {
  if (before === now) return [paint('yellow', 'The replies differ, but not in their text: --json shows them.')]
  let at = 0
  while (before[at] === now[at]) at++
  const start = Math.max(0, at - BEFORE_DIFFERENCE)
  const cut = (text: string) => {
    const shown = visible(`${start > 0 ? '…' : ''}${text.slice(start, start + columns)}`)
    return columnsOf(shown) > columns - 8 ? toWidth(shown, columns - 8) : shown
  }
  return [
    paint('yellow', `The replies differ from character ${at + 1} on:`),
    `before  ${cut(before)}`,
    `now     ${cut(now)}`,
  ]
}
