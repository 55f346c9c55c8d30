/** A line of a table: a column's title and what stands there. */
export type Row = Readonly<Record<string, string | number>>

/** Arithmetic mean; 0 of nothing. */
export function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length
}

/** The value below which `share` of the values are; 0 of nothing. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0
}

/** `0.9534` as 95.3. */
export function percent(share: number): number {
  return rounded(100 * share, 1)
}

/** A number with so many decimals. */
export function rounded(value: number, decimals: number): number {
  return Number(value.toFixed(decimals))
}

/** Rows of the same columns, as text for a terminal. */
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
