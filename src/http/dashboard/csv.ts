import { Readable } from 'node:stream'
import type { Context } from 'koa'
import { decimalUsd } from '../../core/money/usd.ts'
import { MOST_IN_ONE_LIST } from './query.ts'

/** Rows of a file; more than spreadsheets open. */
const MOST_IN_ONE_FILE = 1_000_000
const CUT = 'This file ends after its first 1000000 rows. Narrow the search for the others.'

/** The columns of a file, in their order. */
export type CsvColumns<Row> = readonly (readonly [
  name: string,
  value: (row: Row) => string | number | boolean | null,
])[]

/** Columns and rows of a file. */
export interface CsvFile<Row> {
  readonly name: string
  readonly columns: CsvColumns<Row>
  /** Returns the rows after one, or the first; at most `limit`. */
  readonly page: (after: Row | undefined, limit: number) => Promise<readonly Row[]>
}

/**
 * Streams a CSV file (RFC 4180) page by page, in bounded memory. It ends after a million rows; the last line of a
 * truncated file notes that.
 */
export function sendCsv<Row>(ctx: Context, file: CsvFile<Row>): void {
  ctx.type = 'text/csv; charset=utf-8'
  ctx.attachment(file.name)
  ctx.body = Readable.from(linesOf(file))
}

async function* linesOf<Row>({ columns, page }: CsvFile<Row>) {
  yield Buffer.from(`${columns.map(([name]) => name).join(',')}\r\n`)
  let after: Row | undefined
  for (let sent = 0; sent < MOST_IN_ONE_FILE; sent += MOST_IN_ONE_LIST) {
    const rows = await page(after, MOST_IN_ONE_LIST)
    yield Buffer.from(rows.map((row) => `${columns.map(([, value]) => cell(value(row))).join(',')}\r\n`).join(''))
    if (rows.length < MOST_IN_ONE_LIST) return
    after = rows.at(-1)
  }
  if ((await page(after, 1)).length > 0) yield Buffer.from(`${CUT}\r\n`)
}

/**
 * Prints a cell. Spreadsheets run text that begins like a formula, so a client's text of that kind gets a leading
 * quote.
 */
function cell(value: string | number | boolean | null): string {
  if (value === null) return ''
  if (typeof value !== 'string') return String(value)
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Prints nano-USD as USD with nine decimals. */
export function usd(nanoUsd: number | null): string | null {
  return nanoUsd === null ? null : decimalUsd(nanoUsd)
}

/** Prints milliseconds since 1970 as ISO 8601. */
export function isoTime(atMs: number): string {
  return new Date(atMs).toISOString()
}
