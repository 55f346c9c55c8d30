import { billedUsd, sharesText, sumOfTokens } from '../billing.ts'
import type { Replay } from './replay.ts'

/** Effect of a policy on a group of sessions; shares are changes, -0.25 is a quarter less. */
export interface Row {
  readonly name: string
  readonly sessions: number
  readonly calls: number
  readonly tokensBefore: number
  readonly finalShare: number
  readonly mostShare: number
  readonly inputShare: number
  readonly costShare: number
  /** Price of the sessions' input in USD, without the policy and with it. */
  readonly usdBefore: number
  readonly usdAfter: number
  /** Shares of fresh, read and written input tokens of the prompt cache. */
  readonly shares: string
  readonly breaks: number
  /** Cache breaks per 20,000 tokens of growth. */
  readonly breaksPer20k: number
  readonly needles: number
  readonly lostNeedles: number
  readonly pointers: number
  /** Pointers that are invalid or ambiguous. */
  readonly unclear: number
  readonly largerBlocks: number
  readonly listChanges: number
  readonly coldMsPer100k: number
  readonly coldCpuMsPer100k: number
  readonly warmMs: number
}

interface Pair {
  readonly before: Replay
  readonly after: Replay
}

const STEP_TOKENS = 20_000
const HUNDRED_THOUSAND = 100_000

/** Summarises sessions that were replayed without the policy and with it. */
export function summarise(name: string, pairs: readonly Pair[]): Row {
  const sum = (of: (replay: Replay) => number, side: keyof Pair) =>
    pairs.reduce((total, pair) => total + of(pair[side]), 0)
  const share = (of: (replay: Replay) => number) => sum(of, 'after') / sum(of, 'before') - 1
  const tokensBefore = sum((replay) => replay.finalTokens, 'before')
  const breaks = sum((replay) => replay.breaks, 'after') - sum((replay) => replay.breaks, 'before')
  const billedAfter = sumOfTokens(pairs.map(({ after }) => after.billed))
  return {
    name,
    sessions: pairs.length,
    calls: sum((replay) => replay.calls, 'after'),
    tokensBefore,
    finalShare: share((replay) => replay.finalTokens),
    mostShare: share((replay) => replay.mostTokens),
    inputShare: share((replay) => replay.inputTokens),
    costShare: share((replay) => replay.cost),
    usdBefore: billedUsd(sumOfTokens(pairs.map(({ before }) => before.billed))),
    usdAfter: billedUsd(billedAfter),
    shares: sharesText(billedAfter),
    breaks,
    breaksPer20k: (breaks * STEP_TOKENS) / tokensBefore,
    needles: sum((replay) => replay.needles, 'after'),
    lostNeedles: sum((replay) => replay.lostNeedles.length, 'after'),
    pointers: sum((replay) => replay.pointers, 'after'),
    unclear: sum((replay) => replay.unclear, 'after'),
    largerBlocks: sum((replay) => replay.largerBlocks, 'after'),
    // These plugins do not change the list of tools; the figure is for comparison with those that do.
    listChanges: 0,
    coldCpuMsPer100k: (sum((replay) => replay.coldCpuMs, 'after') * HUNDRED_THOUSAND) / tokensBefore,
    coldMsPer100k: (sum((replay) => replay.coldMs, 'after') * HUNDRED_THOUSAND) / tokensBefore,
    warmMs: Math.max(...pairs.map(({ after }) => after.warmMs)),
  }
}

const COLUMNS: readonly (readonly [title: string, of: (row: Row) => string])[] = [
  ['', ({ name }) => name],
  ['n', ({ sessions }) => String(sessions)],
  ['tokens', ({ tokensBefore }) => String(tokensBefore)],
  ['final', ({ finalShare }) => percent(finalShare)],
  ['max', ({ mostShare }) => percent(mostShare)],
  ['input', ({ inputShare }) => percent(inputShare)],
  ['cost', ({ costShare }) => percent(costShare)],
  ['billed', ({ usdBefore, usdAfter }) => `$${usdBefore.toFixed(2)}→${usdAfter.toFixed(2)}`],
  ['new/read/write', ({ shares }) => shares],
  ['breaks', ({ breaks }) => String(breaks)],
  ['/20k', ({ breaksPer20k }) => breaksPer20k.toFixed(2)],
  ['needles', ({ needles, lostNeedles }) => `${needles - lostNeedles}/${needles}`],
  ['pointers', ({ pointers }) => String(pointers)],
  ['unclear', ({ unclear }) => String(unclear)],
  ['larger', ({ largerBlocks }) => String(largerBlocks)],
  ['list', ({ listChanges }) => String(listChanges)],
  ['cold ms/100k', ({ coldMsPer100k }) => coldMsPer100k.toFixed(1)],
  ['cold CPU', ({ coldCpuMsPer100k }) => coldCpuMsPer100k.toFixed(1)],
  ['warm ms', ({ warmMs }) => warmMs.toFixed(2)],
]

/** Renders the rows as a table for a terminal. */
export function renderTable(rows: readonly Row[]): string {
  const cells = [COLUMNS.map(([title]) => title), ...rows.map((row) => COLUMNS.map(([, of]) => of(row)))]
  const widths = COLUMNS.map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0)))
  const printed = cells.map((line) =>
    line
      .map((cell, column) => pad(cell, column, widths))
      .join('  ')
      .trimEnd(),
  )
  return printed.join('\n')
}

function pad(cell: string, column: number, widths: readonly number[]): string {
  return column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)}%`
}
