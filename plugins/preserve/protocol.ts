import type { Match } from './matches.ts'

/** One search. */
export interface Search {
  readonly texts: readonly string[]
  /** A regular expression in RE2's syntax. */
  readonly source: string
}

/** The result of a search, and its CPU in milliseconds. */
export type SearchResult =
  | { readonly kind: 'found'; readonly matches: Match[][]; readonly cpuMs: number }
  | { readonly kind: 'refused'; readonly message: string; readonly cpuMs: number }
