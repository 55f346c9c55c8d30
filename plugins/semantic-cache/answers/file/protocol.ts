/** Start parameters of the thread. */
export interface FileStart {
  readonly file: string
  readonly maxBytes: number
}

/** Answer as listed for operators: its key, and its first bytes. */
export interface Listed {
  readonly key: string
  readonly head: Uint8Array
  readonly bytes: number
  readonly expiresAtMs: number
}

/** Operations of the thread, with their results. */
export interface Operations {
  get(input: { key: string; nowMs: number }): Uint8Array | undefined
  set(input: { key: string; value: Uint8Array; expiresAtMs: number; nowMs: number }): void
  delete(input: { key: string }): void
  /** Lists the answers whose keys come after `after`, in order, at most a hundred. */
  list(input: { after: string; nowMs: number }): readonly Listed[]
  /** Deletes the answers with this key prefix; returns their number. */
  evict(input: { prefix: string }): number
}

/** Operations by name. */
export type OperationName = keyof Operations

/** Operations that are committed together. */
export type Batch = readonly { readonly name: OperationName; readonly input: unknown }[]

/** Result of one operation. */
export type FileAnswer = { readonly output: unknown } | { readonly fault: string }

/** Results of a batch, in its order; `setAside` names a damaged file that was replaced. */
export interface BatchAnswer {
  readonly answers: readonly FileAnswer[]
  readonly setAside: string | undefined
}
