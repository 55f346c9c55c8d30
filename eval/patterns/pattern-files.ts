import type { LabelledPattern } from './data.ts'

/** Returns the phrase that requests a pattern of the data. */
export function phraseFor({ id }: LabelledPattern): string {
  return `use the ${id.replaceAll('_', ' ')} pattern`
}

/** Returns patterns that are found by their description as an example. */
export function byExample(patterns: readonly LabelledPattern[]): Record<string, string> {
  return filesOf(patterns, ({ id, description }) => ({ examples: `${id.replaceAll('_', ' ')}: ${description}` }))
}

/** Returns patterns that are found by keyword, by expression and by example: all ways at once. */
export function byAllWays(patterns: readonly LabelledPattern[]): Record<string, string> {
  return filesOf(patterns, (pattern) => ({
    any: [
      { keywords: phraseFor(pattern) },
      { regex: `\\bapply\\s+${pattern.id.replaceAll('_', '[\\s_-]')}\\b.{0,40}\\bnow\\b` },
      { examples: `${pattern.id.replaceAll('_', ' ')}: ${pattern.description}` },
    ],
  }))
}

/** Returns patterns that are found by explicit triggers: every other by a keyword, the rest by an expression. */
export function byTrigger(patterns: readonly LabelledPattern[]): Record<string, string> {
  return filesOf(patterns, (pattern, i) =>
    i % 2 === 0 ? { keywords: phraseFor(pattern) } : { regex: `\\b${phraseFor(pattern).replaceAll(' ', '\\s+')}\\b` },
  )
}

function filesOf(
  patterns: readonly LabelledPattern[],
  matchOf: (pattern: LabelledPattern, index: number) => object,
): Record<string, string> {
  const entries = patterns.map((pattern, i): [string, string] => {
    // JSON is YAML.
    const matter = JSON.stringify({ description: pattern.description, match: matchOf(pattern, i) })
    return [`${pattern.id}/PATTERN.md`, `---\n${matter}\n---\nInstructions of ${pattern.id}: ${pattern.description}\n`]
  })
  return Object.fromEntries(entries)
}
