/** Row of a table: titles of columns and their cells. */
export type Row = Readonly<Record<string, string | number>>

/** Returns the arithmetic mean; 0 for no values. */
export function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length
}

/** Returns the value below which `share` of the values are; 0 for no values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0
}

/** Formats a share: `0.9534` as 95.3. */
export function percent(share: number): number {
  return rounded(100 * share, 1)
}

/** Rounds a number to `decimals` places. */
export function rounded(value: number, decimals: number): number {
  return Number(value.toFixed(decimals))
}

/** Renders rows of the same columns as text for a terminal. */
export function renderTable(title: string, rows: readonly Row[]): string {
  const columns = Object.keys(rows[0] ?? {})
  const lines = [columns, ...rows.map((row) => columns.map((column) => String(row[column] ?? '')))]
  const widths = columns.map((_, i) => Math.max(...lines.map((line) => line[i]?.length ?? 0)))
  const print = (line: readonly string[]) =>
    line
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd()
  return [title, ...lines.map(print)].join('\n')
}
