// `npm run eval:patterns -- --data <folder> [--split dev|test|all] [--json <file>]`: measures the plugin `patterns` and
// prints a table; the JSON is written to `eval/patterns/results.json` unless another file is named. Needs no network
// and no model.
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { billedUsd, sharesText } from '../billing.ts'
import { readData, type Split } from './data.ts'
import { type Figures, measure } from './measure.ts'

interface Row {
  readonly what: string
  readonly figure: string
  readonly bar: string
  readonly isMet: boolean
}

const percent = (share: number) => `${(100 * share).toFixed(1)} %`

function rowsOf({ explicit, examples, time, replay }: Figures): Row[] {
  const row = (what: string, figure: string | number, bar = '', isMet = true): Row => ({
    what,
    figure: String(figure),
    bar,
    isMet,
  })
  return [
    row('explicit triggers: recall', percent(explicit.recall), '100 %', explicit.recall === 1),
    row('explicit triggers: strays', explicit.strays, '0', explicit.strays === 0),
    row('examples: the right one injected', percent(examples.recall), '>= 75 %', examples.recall >= 0.75),
    row('examples: the right one is first', percent(examples.recallFirst)),
    row('examples: injected per text', examples.injectedEach.toFixed(2)),
    row(
      `examples: false fires on ${examples.unrelated}`,
      percent(examples.falseFires),
      '<= 2 %',
      examples.falseFires <= 0.02,
    ),
    row(`time with ${time.patterns} patterns, p50`, `${time.p50Ms.toFixed(2)} ms`),
    row(`time with ${time.patterns} patterns, p99`, `${time.p99Ms.toFixed(2)} ms`, '< 2 ms', time.p99Ms < 2),
    ...(replay === undefined
      ? []
      : [
          row(`replay: prefix breaks in ${replay.calls} calls`, replay.prefixBreaks, '0', replay.prefixBreaks === 0),
          row('replay: calls with injected text', replay.callsWithInjection),
          row('replay: calls over budget', replay.overBudget, '0', replay.overBudget === 0),
          row('replay: billed input', `$${billedUsd(replay.billed).toFixed(2)}`),
          row('replay: new/read/write, %', sharesText(replay.billed)),
          row('replay: billed, against none', percent(billedUsd(replay.billed) / billedUsd(replay.billedWithout) - 1)),
        ]),
  ]
}

function print(rows: readonly Row[]): void {
  const width = Math.max(...rows.map(({ what }) => what.length))
  for (const { what, figure, bar, isMet } of rows)
    console.log(`${what.padEnd(width)}  ${figure.padStart(8)}  ${bar.padEnd(8)} ${isMet ? '' : 'MISSED'}`.trimEnd())
}

const SPLITS: readonly string[] = ['dev', 'test', 'all']
const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    split: { type: 'string', default: 'all' },
    json: { type: 'string', default: 'eval/patterns/results.json' },
  },
})
if (values.data === undefined || !SPLITS.includes(values.split)) {
  console.error('usage: npm run eval:patterns -- --data <folder> [--split dev|test|all] [--json <file>]')
  process.exit(1)
}
// Safe: checked just above.
const split = values.split as Split
const figures = await measure(readData(values.data, split))
print(rowsOf(figures))
writeFileSync(values.json, `${JSON.stringify({ split, ...figures }, undefined, 2)}\n`)
console.log(`\nwrote ${values.json}`)
