import { columnsOf, toWidth } from './visible.ts'

/** Lines of visible cells in columns as wide as their widest cell; the first column stands left, the others right. */
export function alignRight(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => columnsOf(row[column] ?? ''))))
  return rows.map((row) =>
    row
      .map((cell, column) => toWidth(cell, widths[column] ?? 0, column === 0 ? 'end' : 'start'))
      .join('   ')
      .trimEnd(),
  )
}
