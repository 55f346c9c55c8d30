/** Aligns cells in columns of text, each line indented by `indent`. */
export function table(rows: readonly (readonly string[])[], indent: string): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)))
  return rows.map((row) => (indent + row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')).trimEnd())
}
