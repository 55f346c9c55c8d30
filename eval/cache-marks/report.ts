/** Input costs of traffic by policy, in pico-USD. */
export interface Row {
  readonly name: string
  readonly calls: number
  readonly none: number
  readonly always: number
  readonly ours: number
  /** A bound that no policy can be below. */
  readonly least: number
}

/** Sums rows up. */
export function sumOf(name: string, rows: readonly Row[]): Row {
  const sum = (of: (row: Row) => number) => rows.reduce((total, row) => total + of(row), 0)
  return {
    name,
    calls: sum(({ calls }) => calls),
    none: sum(({ none }) => none),
    always: sum(({ always }) => always),
    ours: sum(({ ours }) => ours),
    least: sum(({ least }) => least),
  }
}

const PICO_PER_USD = 1e12
const usd = (pico: number) => (pico / PICO_PER_USD).toFixed(2)
const change = (from: number, to: number) => `${to >= from ? '+' : ''}${((100 * (to - from)) / from).toFixed(1)} %`

/** Returns the share of the possible saving that was reached; `–` where there is less than 2 % to be saved. */
function reached({ none, ours, least }: Row): string {
  return none - least < 0.02 * none ? '–' : `${((100 * (none - ours)) / (none - least)).toFixed(1)} %`
}

const HEAD = [
  'traffic',
  'calls',
  'no marks',
  'always',
  'prompt-cache',
  'bound',
  'to no marks',
  'to always',
  'of the saving',
]

/** Renders the rows as a table of Markdown. */
export function renderTable(rows: readonly Row[]): string {
  const lines = rows.map((row) => {
    const { name, calls, none, always, ours, least } = row
    return [
      name,
      String(calls),
      ...[none, always, ours, least].map(usd),
      change(none, ours),
      change(always, ours),
      reached(row),
    ]
  })
  const all = [HEAD, HEAD.map((_, column) => (column === 0 ? '---' : '---:')), ...lines]
  return all.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}
