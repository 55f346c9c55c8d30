/** Kinds of values that are detected. */
export const KINDS = [
  'api_key',
  'cloud_key',
  'token',
  'private_key',
  'jwt',
  'connection',
  'secret',
  'card',
  'iban',
  'email',
  'phone',
  'national_id',
  'host',
  'custom',
] as const

/** Kind of a detected value. */
export type Kind = (typeof KINDS)[number]

/** A detected value: its place in the text in UTF-16 units, and its kind. */
export interface Finding {
  readonly start: number
  readonly end: number
  readonly kind: Kind
}

/** Returns the findings in order; of those that overlap, the longest, and of equal ones the first. */
export function withoutOverlaps(findings: readonly Finding[]): Finding[] {
  if (findings.length < 2) return [...findings]
  const ordered = findings.toSorted((a, b) => a.start - b.start || b.end - a.end)
  const kept: Finding[] = []
  for (const finding of ordered) {
    const last = kept.at(-1)
    if (last === undefined || finding.start >= last.end) kept.push(finding)
    else if (finding.end - finding.start > last.end - last.start) kept[kept.length - 1] = finding
  }
  return kept
}
