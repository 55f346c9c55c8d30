/** How the model’s numbers for the tokens become one vector: their mean, or those of the first token. */
export type Pooling = 'mean' | 'cls'

/** The files of a sentence model, and how it is run. */
export interface ModelFiles {
  readonly modelFile: string
  readonly tokenizerFile: string
  /** Absent in some folders; everything needed is in the tokenizer then. */
  readonly tokenizerConfigFile: string | undefined
  readonly pooling: Pooling
  /** A text is cut to this many tokens, the special ones included. */
  readonly mostTokens: number
}

/** What a thread is started with. */
export interface ModelStart extends ModelFiles {
  /** The entry file of `onnxruntime-node`. */
  readonly runtimeFile: string
}

/** To the thread: a text, one at a time. */
export interface ToModel {
  readonly text: string
}

/** From the thread: once `ready` or `failed`, then an answer to each text. */
export type FromModel =
  | { readonly kind: 'ready'; readonly dimensions: number }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'vector'; readonly vector: Int8Array<ArrayBuffer> }
  | { readonly kind: 'fault'; readonly message: string }
