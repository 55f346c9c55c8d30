import { Readable } from 'node:stream'
import type { Context } from 'koa'
import { decimalUsd } from '../../core/money/usd.ts'
import { type FileViewer, pages, type ReadPage } from './file-pages.ts'

/** The columns of a file, in their order. */
export type CsvColumns<Row> = readonly (readonly [
  name: string,
  value: (row: Row) => string | number | boolean | null,
])[]

/** Columns and rows of a file. */
export interface CsvFile<Row> extends Omit<FileViewer, 'ctx'> {
  readonly name: string
  readonly page: ReadPage<Row>
  readonly columns: CsvColumns<Row>
}

/** Rows of a file without columns. */
type LinesFile<Row> = Omit<CsvFile<Row>, 'columns'>

/**
 * Streams all rows as a CSV file (RFC 4180): a page is read once the client has taken the one before. Cuts the connection
 * where the viewer's rights end, so that no client takes the file for whole.
 */
export function sendCsv<Row>(ctx: Context, file: CsvFile<Row>): void {
  ctx.type = 'text/csv; charset=utf-8'
  ctx.attachment(file.name)
  ctx.body = Readable.from(linesOf(ctx, file))
}

/** Streams all rows as a file with a JSON object in each line, as `sendCsv` does. */
export function sendJsonl<Row>(ctx: Context, file: LinesFile<Row>): void {
  ctx.type = 'application/jsonl'
  ctx.attachment(file.name)
  ctx.body = Readable.from(objectsOf(ctx, file))
}

async function* linesOf<Row>(ctx: Context, { columns, page, user, viewer }: CsvFile<Row>): AsyncGenerator<Buffer> {
  yield Buffer.from(`${columns.map(([name]) => name).join(',')}\r\n`)
  for await (const rows of pages({ ctx, user, viewer }, page))
    yield Buffer.from(rows.map((row) => `${columns.map(([, value]) => cell(value(row))).join(',')}\r\n`).join(''))
}

async function* objectsOf<Row>(ctx: Context, { page, user, viewer }: LinesFile<Row>): AsyncGenerator<Buffer> {
  for await (const rows of pages({ ctx, user, viewer }, page))
    yield Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
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
