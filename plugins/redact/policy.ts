import { type Kind, withoutOverlaps } from './detect/finding.ts'
import { createScan, type Scan } from './detect/scan.ts'
import type { LiteralFinder } from './literals.ts'
import { kindsOf, type Mode, type RedactOptions, stricterMode } from './options.ts'
import type { PatternFinder } from './patterns.ts'

/** Strictest mode and kinds for a request, from the options of all callers, of its team, and of its pipeline string. */
export interface Policy {
  readonly mode: Mode
  /** Names the kinds, in a fixed order. */
  readonly kinds: string
  /** Creates the scan of one request. */
  readonly createScan: () => Scan
}

interface OwnFinders {
  readonly words: LiteralFinder
  readonly patterns: PatternFinder
}

interface Tightening {
  readonly mode?: Mode | undefined
  readonly kinds?: RedactOptions['kinds'] | undefined
}

/** Returns a function that gives the policy for a team of `teams`, and for all other callers. */
export function policiesOf(
  operators: RedactOptions,
  effective: RedactOptions,
  finders: OwnFinders,
): (teamId: string | undefined) => Policy {
  const policyOf = (team: Tightening): Policy => {
    const all: readonly Tightening[] = [operators, effective, team]
    const mode = all.reduce<Mode>((strictest, { mode = 'observe' }) => stricterMode(strictest, mode), 'observe')
    const kinds = new Set(all.flatMap(({ kinds = [] }) => kindsOf(kinds)))
    return { mode, kinds: [...kinds].sort().join(' '), createScan: scansOf(kinds, operators, finders) }
  }
  const ofAll = policyOf({})
  const ofTeams = new Map(Object.entries(operators.teams).map(([teamId, team]) => [teamId, policyOf(team)]))
  return (teamId) => ofTeams.get(teamId ?? '') ?? ofAll
}

function scansOf(
  kinds: ReadonlySet<Kind>,
  operators: RedactOptions,
  { words, patterns }: OwnFinders,
): Policy['createScan'] {
  const scan = createScan(kinds)
  if (operators.words.length + operators.patterns.length === 0 || !kinds.has('custom')) return () => scan
  return () => {
    const own = patterns.forRequest()
    return (text) => withoutOverlaps([...words.find(text), ...own.find(text), ...scan(text)])
  }
}
