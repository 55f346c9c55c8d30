import type { PairCounts, StreamCounts } from './measure.ts'

/** Row of the tables, with the shape of the JSON. */
export type Row = { readonly data: string; readonly mode: string } & (
  | ({ readonly table: 'pairs'; readonly kind: string } & PairCounts)
  | ({ readonly table: 'stream' } & StreamCounts)
)

/** Renders a row: shares of the possible hits. */
export function lineOf(row: Row): string {
  const start = `${row.data.padEnd(20)} ${row.mode.padEnd(15)}`
  switch (row.table) {
    case 'pairs': {
      const { kind, same, sameAccepted, other, otherAccepted } = row
      const precision = share(sameAccepted, sameAccepted + otherAccepted)
      return `${start} ${kind.padEnd(12)} recall ${share(sameAccepted, same)} (${sameAccepted}/${same})  wrong accepted ${share(otherAccepted, other)} (${otherAccepted}/${other})  precision ${precision}`
    }
    case 'stream': {
      const { requests, exact, possible, semantic, wrong, right } = row
      return `${start} ${String(requests).padStart(6)} requests  exact ${share(exact, requests)}  semantic ${share(semantic, requests)}  of possible ${share(right, possible)}  wrong/served ${share(wrong, semantic)} (${wrong} of ${semantic})`
    }
    default:
      return row satisfies never
  }
}

function share(part: number, whole: number): string {
  return whole === 0 ? '   –   ' : `${((100 * part) / whole).toFixed(2)} %`.padStart(8)
}
