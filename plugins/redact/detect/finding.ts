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

/** Kinds that end where another one begins: the password of `https://user:password@host` is no part of an address. */
const YIELDING: Readonly<Partial<Record<Kind, readonly Kind[]>>> = { email: ['connection'] }

/** Returns the findings in order; those that overlap become one, so that every character of each is covered. */
export function withoutOverlaps(findings: readonly Finding[]): Finding[] {
  const ordered = findings.toSorted((a, b) => a.start - b.start || b.end - a.end)
  const kept: Finding[] = []
  for (const finding of ordered) {
    const last = kept.at(-1)
    if (last === undefined || finding.start >= last.end) kept.push(finding)
    else if (YIELDING[last.kind]?.includes(finding.kind)) kept[kept.length - 1] = finding
    else if (!YIELDING[finding.kind]?.includes(last.kind) && finding.end > last.end)
      kept[kept.length - 1] = { ...last, end: finding.end }
  }
  return kept
}
