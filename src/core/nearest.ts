/** Returns the candidate closest to `word` by edit distance, or `undefined` when none is close enough to be a typing error. */
function nearest(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined
  let bestDistance = Math.max(2, Math.floor(word.length / 2)) + 1
  for (const candidate of candidates) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase())
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance]
  }
  return best
}

/** Returns the end of a sentence that suggests the nearest candidate, or lists them all: ` Did you mean …?` */
export function suggest(word: string, candidates: readonly string[]): string {
  const close = nearest(word, candidates)
  if (close !== undefined) return ` Did you mean \`${close}\`?`
  return candidates.length === 0 ? '' : ` Valid: ${candidates.map((name) => `\`${name}\``).join(', ')}.`
}

const LONGEST_COMPARED = 64

/** Returns the Levenshtein distance of two short words; words over 64 characters count as infinitely far apart. */
function editDistance(a: string, b: string): number {
  if (a.length > LONGEST_COMPARED || b.length > LONGEST_COMPARED) return Number.POSITIVE_INFINITY
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const substitution = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(substitution, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
