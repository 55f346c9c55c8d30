/** What the thread of graphs is started with. */
export interface GraphStart {
  /** Where graphs are kept between runs; `undefined`: nowhere. */
  readonly folder: string | undefined
}

/** What the thread is asked. Vectors are folded; `vectors` has those of all labels, one after another. */
export type ToGraphs =
  | { readonly kind: 'add'; readonly scope: string; readonly labels: readonly number[]; readonly vectors: Int16Array }
  | { readonly kind: 'remove'; readonly scope: string; readonly label: number }
  | { readonly kind: 'search'; readonly scope: string; readonly id: number; readonly vector: number[] }
  | { readonly kind: 'drop'; readonly scope: string }
  | { readonly kind: 'close' }

/** What the thread says. */
export type FromGraphs =
  | { readonly kind: 'ready' }
  | { readonly kind: 'missing'; readonly reason: string }
  | { readonly kind: 'added'; readonly scope: string; readonly count: number }
  | { readonly kind: 'found'; readonly id: number; readonly labels: readonly number[] }
  /** So much was removed that the scope is to be fed anew. */
  | { readonly kind: 'worn'; readonly scope: string }
