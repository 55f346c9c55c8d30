/** Columns of a table: what a database stores under each name. */
export type ColumnTypes = Readonly<Record<string, 'text' | 'bigint'>>

/** A row of such columns. */
export type RowOf<Types extends ColumnTypes> = {
  -readonly [Column in keyof Types]: Types[Column] extends 'text' ? string : number
}

/** A row whose columns may each be `null`. */
export type PartialRowOf<Types extends ColumnTypes> = {
  [Column in keyof RowOf<Types>]: RowOf<Types>[Column] | null
}

/** Returns columns of whole numbers. The cast is safe: the names are those given. */
export function bigints<Name extends string>(names: readonly Name[]): Readonly<Record<Name, 'bigint'>> {
  return Object.fromEntries(names.map((name) => [name, 'bigint'])) as Record<Name, 'bigint'>
}

/** Declares columns in SQL; `rule` follows each, e.g. `not null`. */
export function columns(types: ColumnTypes, rule = ''): string {
  return Object.entries(types)
    .map(([name, type]) => `${name} ${type} ${rule}`)
    .join(', ')
}

/** Declares required text columns in SQL. */
export function texts(...names: readonly string[]): string {
  return names.map((name) => `${name} text not null`).join(', ')
}

/** Declares columns of whole numbers from 0, such as money, in SQL; the database itself refuses any other value. */
export function counts(...names: readonly string[]): string {
  return names.map((name) => `${name} bigint not null ${isCount(name)}`).join(', ')
}

/** Returns the check of such a column. */
export function isCount(name: string): string {
  return `check (${name} between 0 and ${Number.MAX_SAFE_INTEGER})`
}

/** Returns these columns with one value in each. */
export function each<Value>(names: readonly string[], value: Value): Record<string, Value> {
  return Object.fromEntries(names.map((name) => [name, value]))
}

/**
 * Returns a row to copy, `{ ...row }`. Copies remain in the engine's fast form: an object to which more than a dozen
 * members are added by computed names becomes a dictionary, which takes several times as long to fill and to read.
 * The cast is safe when `row` has all columns of `Row`.
 */
export function rowToCopy<Row extends object>(row: Readonly<Record<string, string | number | null>>): Readonly<Row> {
  return JSON.parse(JSON.stringify(row)) as Row
}
