import type { ComponentChildren } from 'preact'

/** Heads of a table's columns, the name of its region (a text, or the id of the element that has it), and a last row. */
interface TableProps {
  heads: readonly string[]
  label?: string
  labelledBy?: string
  class?: string
  foot?: ComponentChildren
  children: ComponentChildren
}

/** Table of the rows in `children`; where it is wider than its place, it scrolls, with the keyboard too. */
export function Table({ heads, label, labelledBy, children, foot, ...table }: TableProps) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={label} aria-labelledby={labelledBy}>
      <table {...table}>
        <thead>
          <tr>
            {heads.map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
        {foot && <tfoot>{foot}</tfoot>}
      </table>
    </div>
  )
}
