import type { Case } from './data.ts'
import { createModule } from './module.ts'
import { quantile, type Row, rounded } from './report.ts'

const SIZE = 100
const MOST_CASES = 40
const ROUNDS = 10

/**
 * Measures milliseconds of the plugin for 100 tools. `cold`: tools never seen; `new text`: known tools, another
 * conversation; `warm`: the next call of a known conversation.
 */
export async function measureLatency(cases: readonly Case[]): Promise<Row[]> {
  const rows: Row[] = []
  for (const mode of ['slim', 'drop'] as const) {
    const cold: number[] = []
    const fresh: number[] = []
    const warm: number[] = []
    for (const [i, { tools: pools, turns }] of cases
      .filter(({ tools }) => tools.has(SIZE))
      .slice(0, MOST_CASES)
      .entries()) {
      const prune = createModule(mode)
      const tools = pools.get(SIZE) ?? []
      const send = async (content: string) =>
        (await prune({ tools, messages: [{ role: 'user', content }] })).milliseconds
      const user = turns[0]?.user ?? ''
      const first = await send(user)
      // The first half warms the compiler up.
      const counts = i >= MOST_CASES / 2
      if (counts) cold.push(first)
      for (let round = 0; round < ROUNDS; round++) {
        const [another, again] = [await send(`${user} ${round}`), await send(user)]
        if (counts) fresh.push(another)
        if (counts) warm.push(again)
      }
    }
    const kinds = { cold, 'new text': fresh, warm }
    for (const [kind, values] of Object.entries(kinds))
      rows.push({
        group: `${mode}: ${kind}`,
        calls: values.length,
        'median ms': rounded(quantile(values, 0.5), 2),
        'p95 ms': rounded(quantile(values, 0.95), 2),
      })
  }
  return rows
}
