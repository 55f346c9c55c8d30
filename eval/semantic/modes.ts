import type { Mode } from '../../plugins/semantic-cache/matcher.ts'

/** A mode under its name on the command line. */
export interface NamedMode {
  readonly name: string
  readonly mode: Mode
}

const DEFAULT_MODES = ['strict', 'threshold=0.8', 'threshold=0.9', 'threshold=0.95']

/** Reads `strict`, `threshold=0.95`, `bound=0.02`; without any, `strict` and three thresholds. Throws with what was expected. */
export function modesOf(names: readonly string[]): NamedMode[] {
  return (names.length === 0 ? DEFAULT_MODES : names).map((name) => ({ name, mode: modeOf(name) }))
}

function modeOf(name: string): Mode {
  const [kind, text = ''] = name.split('=')
  const value = Number(text)
  if (kind === 'strict' && text === '') return { kind }
  if (kind === 'threshold' && value > 0 && value <= 1) return { kind, leastCosine: value }
  if (kind === 'bound' && value > 0 && value < 1) return { kind, delta: value }
  throw new Error(`Expected --mode to be strict, threshold=<0 to 1> or bound=<0 to 1>, got ${name}.`)
}
