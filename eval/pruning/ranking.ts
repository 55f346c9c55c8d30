import { ToolLists } from '../../plugins/prune-tools/tool-list.ts'
import { loadVectors } from '../../plugins/prune-tools/words/vectors.ts'
import type { Case } from './data.ts'
import { mean, percent, type Row } from './report.ts'

const SIZES = [20, 50, 100]
const DEPTHS = [5, 10, 20]

/** Measures the share of needed tools among the nearest ones: a row for each set and size of the list. */
export function measureRanking(cases: readonly Case[], sizes: readonly number[] = SIZES): Row[] {
  const lists = new ToolLists({ vectors: loadVectors(), isAlwaysIncluded: () => false, maxBytes: 128 * 1024 * 1024 })
  const single = cases.filter(({ turns }) => turns.length === 1)
  const groups = [...Map.groupBy(single, ({ set }) => set), ['all', single] as const]
  const ranks = new Map(sizes.map((size) => [size, new Map(single.map((each) => [each, ranksOf(each, size, lists)]))]))
  return groups.flatMap(([set, members]) =>
    sizes.map((size) =>
      rowOf(
        `${set}, ${size} tools`,
        members.flatMap((each) => ranks.get(size)?.get(each) ?? []),
      ),
    ),
  )
}

/** Returns the ranks of the needed tools of a case with a list of this size; nothing for a case without one. */
function ranksOf({ turns, tools: pools }: Case, size: number, lists: ToolLists): number[][] {
  const { needed = [], user = '' } = turns[0] ?? {}
  const tools = pools.get(size)
  if (tools === undefined || needed.length === 0) return []
  const list = lists.read(Buffer.from(JSON.stringify(tools)))
  if (list === undefined) return []
  const { relative } = list.score(user)
  const order = [...tools.keys()].sort((a, b) => (relative[b] ?? 0) - (relative[a] ?? 0) || a - b)
  const names = order.map((i) => tools[i]?.name ?? '')
  return [needed.map((name) => names.indexOf(name))]
}

function rowOf(group: string, ranks: readonly number[][]): Row {
  const recalls = DEPTHS.flatMap((depth): [string, number][] => {
    const found = ranks.map((each) => mean(each.map((rank) => (rank < depth ? 1 : 0))))
    const whole = found.filter((share) => share === 1).length / found.length
    return [
      [`recall@${depth} %`, percent(mean(found))],
      [`all@${depth} %`, percent(whole)],
    ]
  })
  return { group, cases: ranks.length, ...Object.fromEntries(recalls) }
}
