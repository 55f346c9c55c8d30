import { type Field, message } from './protobuf.ts'

/*
 * DESIGN. Writes a real ONNX model (https://github.com/onnx/onnx/blob/main/onnx/onnx.proto): a table of rows by token, from
 * which `Gather` takes those of `input_ids`. That is an embedding model without the layers in between.
 *
 *   input_ids [1, tokens] ──┐
 *                           ├──► Gather ──► last_hidden_state [1, tokens, dimensions]
 *   table [words, dimensions]┘
 */

/** What may be odd about a model. */
export interface GraphOptions {
  /** What it asks for besides `input_ids`. */
  readonly otherInputs?: readonly string[]
  readonly output?: string
}

const FLOAT = 1
const INT64 = 7
const IR_VERSION = 8
const OPSET = 13

/** The bytes of a model that looks up rows; all of the same length. */
export function gatherModel(rows: readonly (readonly number[])[], options: GraphOptions = {}): Buffer {
  const { otherInputs = ['attention_mask', 'token_type_ids'], output = 'last_hidden_state' } = options
  const dimensions = rows[0]?.length ?? 0
  const table = message({ 1: [rows.length, dimensions], 2: FLOAT, 8: 'table', 9: floats(rows.flat()) })
  const gather = message({ 1: ['table', 'input_ids'], 2: [output], 3: 'gather', 4: 'Gather' })
  const tokens: Field[] = [message({ 2: 'batch' }), message({ 2: 'tokens' })]
  const inputs = ['input_ids', ...otherInputs].map((name) => tensorInfo(name, INT64, tokens))
  const graph = message({
    1: [gather],
    2: 'sentence',
    5: [table],
    11: inputs,
    12: [tensorInfo(output, FLOAT, [...tokens, message({ 1: dimensions })])],
  })
  return message({ 1: IR_VERSION, 2: 'turnpike tests', 7: graph, 8: [message({ 2: OPSET })] })
}

function tensorInfo(name: string, type: number, dimensions: readonly Field[]): Buffer {
  const shape = message({ 1: dimensions })
  return message({ 1: name, 2: message({ 1: message({ 1: type, 2: shape }) }) })
}

/** Little-endian, as ONNX has them whatever the machine. */
function floats(values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4)
  for (const [i, value] of values.entries()) bytes.writeFloatLE(value, i * 4)
  return bytes
}
