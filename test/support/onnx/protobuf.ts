/**
 * The little of protobuf's wire format that an ONNX file needs (https://protobuf.dev/programming-guides/encoding):
 * numbers as varints, and everything else as bytes with their length.
 */

/** A number, a text, bytes, or a message that is encoded already; a list is a repeated field. */
export type Field = number | string | Uint8Array | readonly Field[]

const VARINT = 0
const LENGTH_DELIMITED = 2

/** Encodes a message: fields by their numbers. */
export function message(fields: Readonly<Record<number, Field>>): Buffer {
  return Buffer.concat(Object.entries(fields).flatMap(([number, value]) => encode(Number(number), value)))
}

function encode(number: number, value: Field): Buffer[] {
  if (typeof value === 'number') return [varint((number << 3) | VARINT), varint(value)]
  if (typeof value !== 'string' && !(value instanceof Uint8Array)) return value.flatMap((one) => encode(number, one))
  const bytes = Buffer.from(value)
  return [varint((number << 3) | LENGTH_DELIMITED), varint(bytes.length), bytes]
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest])
    bytes.push((rest % 128) | 128)
  }
}
