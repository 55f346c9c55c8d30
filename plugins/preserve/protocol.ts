import type { Match } from './matches.ts'

/** Request to search. */
export interface Search {
  readonly texts: readonly string[]
  /** Regular expression in RE2's syntax. */
  readonly source: string
}

/** Result of a search, and its CPU in milliseconds. */
export type SearchResult =
  | { readonly kind: 'found'; readonly matches: Match[][]; readonly cpuMs: number }
  | { readonly kind: 'refused'; readonly message: string; readonly cpuMs: number }
