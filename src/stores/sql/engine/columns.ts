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
