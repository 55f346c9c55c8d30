import type { SoakReport } from './soak.ts'

const HEAD = ['', 'level', 'growth a day', '99 % interval', 'allowed']

/** Prints the report as one table, and a line with its result. */
export function printReport({ findings, tally, visits }: SoakReport): string {
  const rows = findings.map(({ name, isFine, cells }) => [`${isFine ? 'ok  ' : 'FAIL'} ${name}`, ...cells])
  // A finding in one cell may be long: it does not widen the column.
  const measured = [HEAD, ...rows.filter(({ length }) => length === HEAD.length)]
  const widths = HEAD.map((_, column) => Math.max(...measured.map((row) => row[column]?.length ?? 0)))
  const print = (row: readonly string[]): string =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ')
      .trimEnd()
  const failed = findings.filter(({ isFine }) => !isFine).length
  const { sent, complete, hits, left, lost, statuses } = tally
  const asked = `${sent} requests: ${complete} complete, ${hits} of them from caches, ${left} left by the client, ${lost} lost`
  return [
    ...[HEAD, ...rows].map(print),
    '',
    `${asked}; by status ${JSON.stringify(statuses)}`,
    Object.entries(visits)
      .map(([name, count]) => `${count} ${name}`)
      .join(', '),
    failed === 0 ? 'The day ended as it began.' : `${failed} of ${findings.length} failed.`,
  ].join('\n')
}
