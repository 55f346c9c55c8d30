import type { Figures } from '../../accounts/people/figures.ts'
import { table } from '../terminal/table.ts'

/** Option of commands that print. */
export interface Printed {
  readonly json?: boolean
}

/** Prints rows as JSON, one a line, or as a table with these columns. */
export function printRows<Row extends object>(
  rows: readonly Row[],
  columns: Readonly<Record<string, (row: Row) => string>>,
  { json }: Printed,
): void {
  const lines = json
    ? rows.map((row) => JSON.stringify(row))
    : table([Object.keys(columns), ...rows.map((row) => Object.values(columns).map((cell) => cell(row)))], '')
  if (lines.length > 0) process.stdout.write(`${lines.join('\n')}\n`)
}

/** Prints one row as JSON, or as lines of its members. */
export function printRow(row: object, { json }: Printed): void {
  if (json) return void process.stdout.write(`${JSON.stringify(row)}\n`)
  const rows = Object.entries(row).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value ?? null),
  ])
  process.stdout.write(`${table(rows, '').join('\n')}\n`)
}

/** Formats spend of today against the limit. */
export function spentToday({
  spend,
  limits,
}: Pick<Figures, 'spend'> & { limits?: { costPerDay?: number | undefined } | null }) {
  const most = limits?.costPerDay
  return `$${spend.day}${most === undefined ? '' : ` of $${most}`}`
}

/** Formats the refusals of today. */
export function refusedToday({ refused: { count, reason } }: Pick<Figures, 'refused'>): string {
  return count === 0 ? '' : `${count}: ${reason ?? ''}`
}
