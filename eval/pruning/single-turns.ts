import { countTokens } from '../tokens.ts'
import type { Case, WireTool } from './data.ts'
import { createModule } from './module.ts'
import { mean, percent, type Row } from './report.ts'

const SIZE = 100
const MODES = ['slim', 'drop'] as const

interface Outcome {
  readonly set: string
  readonly isActive: boolean
  readonly present: number
  readonly whole: number
  readonly saved: number
}

/** Measures recall and savings at the first call of a conversation with 100 tools: a row for each mode and set. */
export async function measureSingleTurns(cases: readonly Case[]): Promise<Row[]> {
  const rows: Row[] = []
  for (const mode of MODES) {
    const prune = createModule(mode)
    const outcomes: Outcome[] = []
    for (const { set, tools, turns } of cases) {
      const before = tools.get(SIZE)
      const [first] = turns
      if (before === undefined || first === undefined || turns.length > 1 || first.needed.length === 0) continue
      const after = await prune({ tools: before, messages: [{ role: 'user', content: first.user }] })
      const shareOf = (names: ReadonlySet<string>) => mean(first.needed.map((name) => (names.has(name) ? 1 : 0)))
      outcomes.push({
        set,
        isActive: after.action === 'pruned',
        present: shareOf(new Set(after.tools.map(({ name }) => name))),
        whole: shareOf(wholeNames(before, after.tools)),
        saved: 1 - tokensOf(after.tools) / tokensOf(before),
      })
    }
    rows.push(
      ...[...Map.groupBy(outcomes, ({ set }) => set), ['all', outcomes] as const].map(([set, members]) =>
        rowOf(`${mode}: ${set}`, members),
      ),
    )
  }
  return rows
}

/** Counts the tokens of tools as they are sent, in o200k. */
export function tokensOf(tools: readonly WireTool[]): number {
  return tools.reduce((sum, tool) => sum + countTokens(JSON.stringify(tool)), 0)
}

/** Returns the names of the tools that are unchanged. */
function wholeNames(before: readonly WireTool[], after: readonly WireTool[]): Set<string> {
  const texts = new Set(before.map((tool) => JSON.stringify(tool)))
  return new Set(after.filter((tool) => texts.has(JSON.stringify(tool))).map(({ name }) => name))
}

/** Builds a row; `saved` covers the cases that the plugin prunes: the others have fewer tokens than its threshold. */
function rowOf(group: string, outcomes: readonly Outcome[]): Row {
  const active = outcomes.filter(({ isActive }) => isActive)
  return {
    group,
    cases: outcomes.length,
    active: active.length,
    'present %': percent(mean(outcomes.map(({ present }) => present))),
    'complete %': percent(mean(outcomes.map(({ present }) => (present === 1 ? 1 : 0)))),
    'whole %': percent(mean(active.map(({ whole }) => whole))),
    'saved %': percent(mean(active.map(({ saved }) => saved))),
  }
}
