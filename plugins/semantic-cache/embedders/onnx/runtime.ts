/** The part of `onnxruntime-node` that runs a model. The package is not installed by default, so its types are not there. */
export interface OnnxRuntime {
  readonly InferenceSession: {
    create(file: string, options: Readonly<Record<string, unknown>>): Promise<Session>
  }
  readonly Tensor: new (type: 'int64', data: BigInt64Array, dims: readonly number[]) => Tensor
}

/** An array of numbers and its shape. */
export interface Tensor {
  readonly type: string
  readonly data: unknown
  readonly dims: readonly number[]
}

/** A loaded model. */
interface Session {
  readonly inputNames: readonly string[]
  readonly outputNames: readonly string[]
  run(inputs: Readonly<Record<string, Tensor>>, outputs: readonly string[]): Promise<Readonly<Record<string, Tensor>>>
}
