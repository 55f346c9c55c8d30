/** Criterion of a hit: the form alone, or also the cosine. */
export type EvalMode = { readonly kind: 'strict' } | { readonly kind: 'threshold'; readonly leastCosine: number }

/** Mode with its name on the command line. */
export interface NamedMode {
  readonly name: string
  readonly mode: EvalMode
}

const DEFAULT_MODES = ['strict', 'threshold=0.9', 'threshold=0.95']

/**
 * Parses `strict` and `threshold=0.95`; the default is `strict` and two thresholds. Throws with the expected values.
 */
export function modesOf(names: readonly string[]): NamedMode[] {
  return (names.length === 0 ? DEFAULT_MODES : names).map((name) => ({ name, mode: modeOf(name) }))
}

function modeOf(name: string): EvalMode {
  const [kind, text = ''] = name.split('=')
  const value = Number(text)
  if (kind === 'strict' && text === '') return { kind }
  if (kind === 'threshold' && value > 0 && value <= 1) return { kind, leastCosine: value }
  throw new Error(`Expected --mode to be strict or threshold=<0 to 1>, got ${name}.`)
}
