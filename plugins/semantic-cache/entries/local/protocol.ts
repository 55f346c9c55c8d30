import type { PackedFact } from '../fact.ts'

/** What the thread is started with. */
export interface LocalStart {
  readonly file: string
  readonly maxBytes: number
  /** How often it looks for what other processes have written. */
  readonly lookEveryMs: number
}

/** A fact, and whose it is; with the place from which the next portion goes on. */
export interface Row {
  readonly scope: string
  readonly value: Uint8Array
}

/** A portion of rows; `next` is where the following one begins, if there is one. */
export interface Portion {
  readonly rows: readonly Row[]
  readonly next: number | undefined
}

/** What can be asked, with what it is answered. */
export interface Operations {
  load(input: { scope: string; after: number; nowMs: number }): Portion
  list(input: { after: number; nowMs: number }): Portion
  append(input: { scope: string; facts: readonly PackedFact[]; nowMs: number }): void
  drop(input: { scope: string; keys: readonly string[] }): void
  clear(input: { scope: string | undefined; nowMs: number }): void
  getReply(input: { id: string; nowMs: number }): Uint8Array | undefined
  setReply(input: { id: string; value: Uint8Array; expiresAtMs: number; nowMs: number }): void
  deleteReply(input: { id: string }): void
}

/** Operations by name. */
export type OperationName = keyof Operations

/** What the thread is asked: all of a batch is committed together. */
export type ToLocal =
  | { readonly kind: 'batch'; readonly asked: readonly { name: OperationName; input: unknown }[] }
  | { readonly kind: 'close' }

/** What became of one question. */
export type LocalAnswer = { readonly output: unknown } | { readonly fault: string }

/** What the thread says. */
export type FromLocal =
  | { readonly kind: 'ready'; readonly setAside: string | undefined }
  | { readonly kind: 'answers'; readonly answers: readonly LocalAnswer[] }
  /** Another process has written this. */
  | { readonly kind: 'changes'; readonly rows: readonly Row[] }
  /** Another process has cleared a scope, or all; or the file was damaged and is new. */
  | { readonly kind: 'forget'; readonly scope: string | undefined; readonly setAside?: string | undefined }
