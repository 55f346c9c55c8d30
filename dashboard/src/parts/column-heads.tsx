/** Columns of a list, as classes and titles; the style sheet hides them on narrow screens in the order of the classes. */
export type Columns = readonly (readonly [name: string, title: string])[]

/** The heads of a windowed list's columns. */
export function ColumnHeads({ columns }: { columns: Columns }) {
  return (
    <>
      {columns.map(([name, title]) => (
        <span key={name} class={`cell ${name}`} role="columnheader" tabIndex={-1}>
          {title}
        </span>
      ))}
    </>
  )
}
