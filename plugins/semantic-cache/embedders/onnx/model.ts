import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Tokenizer } from '@huggingface/tokenizers'
import { toUnitBytes } from '../unit-bytes.ts'
import type { ModelStart, Pooling } from './protocol.ts'
import type { OnnxRuntime, Tensor } from './runtime.ts'

/** A model that is loaded. */
export type Model = (text: string) => Promise<Int8Array<ArrayBuffer>>

const KNOWN_INPUTS = ['input_ids', 'attention_mask', 'token_type_ids']
/** What models call the numbers of the tokens, or of the text as a whole. */
const OUTPUTS = ['sentence_embedding', 'last_hidden_state', 'token_embeddings']
const ONE_THREAD = {
  executionProviders: ['cpu'],
  executionMode: 'sequential',
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
  logSeverityLevel: 3,
}

/**
 * Loads a model and its tokenizer. Texts are run one by one: quantised models scale by what is in a batch, so a vector
 * would depend on its neighbours. Throws with what was expected when the model is not one for sentences.
 */
export async function loadModel(start: ModelStart): Promise<Model> {
  const tokenizer = new Tokenizer(
    jsonOf(start.tokenizerFile),
    start.tokenizerConfigFile ? jsonOf(start.tokenizerConfigFile) : {},
  )
  const runtime: OnnxRuntime = createRequire(import.meta.url)(start.runtimeFile)
  const session = await runtime.InferenceSession.create(start.modelFile, ONE_THREAD)
  const strange = session.inputNames.filter((name) => !KNOWN_INPUTS.includes(name))
  if (strange.length > 0)
    throw new Error(`the model asks for ${strange.join(', ')}; known are ${KNOWN_INPUTS.join(', ')}`)
  const output = OUTPUTS.find((name) => session.outputNames.includes(name))
  if (output === undefined) {
    throw new Error(`the model gives ${session.outputNames.join(', ')}; expected one of ${OUTPUTS.join(', ')}`)
  }
  return async (text) => {
    const ids = cut(tokenizer.encode(text).ids, start.mostTokens)
    const outputs = await session.run(inputsOf(ids, session.inputNames, runtime), [output])
    const vector = toUnitBytes(pooled(outputs[output], start.pooling))
    if (vector === undefined) throw new Error('the model gave no direction: zeros, or numbers that are not finite')
    return vector
  }
}

/** At most so many tokens, the last of which ends the text as the model knows it. */
function cut(ids: readonly number[], mostTokens: number): readonly number[] {
  return ids.length <= mostTokens ? ids : [...ids.slice(0, mostTokens - 1), ...ids.slice(-1)]
}

function inputsOf(
  ids: readonly number[],
  names: readonly string[],
  { Tensor }: Pick<OnnxRuntime, 'Tensor'>,
): Record<string, Tensor> {
  const values = { input_ids: ids, attention_mask: ids.map(() => 1), token_type_ids: ids.map(() => 0) }
  const tensors = Object.entries(values).map(
    ([name, list]) => [name, new Tensor('int64', BigInt64Array.from(list, BigInt), [1, list.length])] as const,
  )
  return Object.fromEntries(tensors.filter(([name]) => names.includes(name)))
}

/** One vector of what is given as `[1, dimensions]` or `[1, tokens, dimensions]`. */
function pooled(tensor: Tensor | undefined, pooling: Pooling): Float32Array {
  const values = tensor?.data
  if (!(values instanceof Float32Array)) throw new Error(`the model gives ${tensor?.type}; expected float32`)
  const dimensions = tensor?.dims.at(-1) ?? 0
  if (pooling === 'cls') return values.subarray(0, dimensions)
  const sums = new Float32Array(dimensions)
  for (const [i, value] of values.entries()) sums[i % dimensions] = (sums[i % dimensions] ?? 0) + value
  // A sum has the direction of the mean.
  return sums
}

function jsonOf(file: string): object {
  const value: unknown = JSON.parse(readFileSync(file, 'utf8'))
  if (typeof value !== 'object' || value === null) throw new Error(`\`${file}\`: expected an object`)
  return value
}
