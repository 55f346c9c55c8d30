import type { PackedFact } from '../fact.ts'

/** What processes tell each other, as JSON. */
export type Announcement =
  /** A fact, packed and in base64. */
  | { readonly scope: string; readonly fact: string }
  /** A fact that is too large to be told, by its key. */
  | { readonly scope: string; readonly key: string }
  /** A scope is to be forgotten, or all when there is none. */
  | { readonly forget: string | null }
  /** Somebody wants to know whether they hear. */
  | { readonly probe: string }

/** PostgreSQL takes less than 8,000 bytes; in base64 four carry three. */
const LARGEST_FACT_BYTES = 5800

/** Tells a fact. */
export function announce(scope: string, { key, value }: PackedFact): Announcement {
  if (value.length > LARGEST_FACT_BYTES) return { scope, key }
  return { scope, fact: Buffer.from(value.buffer, value.byteOffset, value.length).toString('base64') }
}

/** What was told; `undefined` when it is nothing of ours. */
export function heard(payload: string | undefined): Announcement | undefined {
  try {
    return JSON.parse(payload ?? '')
  } catch {
    return undefined
  }
}
