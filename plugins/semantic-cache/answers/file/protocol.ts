/** What the thread is started with. */
export interface FileStart {
  readonly file: string
  readonly maxBytes: number
}

/** One answer for operators: where it is, and its first bytes. */
export interface Listed {
  readonly key: string
  readonly head: Uint8Array
  readonly bytes: number
  readonly expiresAtMs: number
}

/** What can be asked, with what it is answered. */
export interface Operations {
  get(input: { key: string; nowMs: number }): Uint8Array | undefined
  set(input: { key: string; value: Uint8Array; expiresAtMs: number; nowMs: number }): void
  delete(input: { key: string }): void
  /** The answers whose keys come after `after`, in their order, at most a hundred. */
  list(input: { after: string; nowMs: number }): readonly Listed[]
  /** Forgets the answers whose keys begin so; gives how many. */
  evict(input: { prefix: string }): number
}

/** Operations by name. */
export type OperationName = keyof Operations

/** Operations that are committed together. */
export type Batch = readonly { readonly name: OperationName; readonly input: unknown }[]

/** The outcome of one operation. */
export type FileAnswer = { readonly output: unknown } | { readonly fault: string }

/** The outcomes of a batch, in its order; `setAside` names a damaged file that was put away for a new one. */
export interface BatchAnswer {
  readonly answers: readonly FileAnswer[]
  readonly setAside: string | undefined
}
