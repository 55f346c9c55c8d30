/**
 * DESIGN — vectors in little room
 *
 *   [ gap │ component │ gap │ component │ … ]     most components are zero, as with the built-in embedder
 *   [ component │ component │ component │ … ]     where that would be no shorter, as with models
 *
 * A gap is the distance from the component before. A short text touches some 60 of 512 counters: a quarter of the room, and a
 * quarter of the time to compare it. Which of the two it is, the length tells.
 */
const LONGEST_GAP = 127

/** Packs a vector; one that is all zeros becomes empty. */
export function packVector(vector: Int8Array): Int8Array {
  const packed = new Int8Array(vector.length)
  let length = 0
  let last = 0
  for (let i = 0; i < vector.length; i++) {
    const component = vector[i] ?? 0
    if (component === 0) continue
    for (; i - last > LONGEST_GAP; last += LONGEST_GAP) {
      packed[length] = LONGEST_GAP
      length += 2
    }
    // What is written beyond the end is lost: it is not packed then.
    packed[length] = i - last
    packed[length + 1] = component
    length += 2
    last = i
  }
  return length < vector.length ? packed.subarray(0, length) : vector
}

/** The vector that was packed, of so many components. */
export function unpackVector(packed: Int8Array, dimensions: number): Int8Array {
  if (packed.length === dimensions) return packed.slice()
  const vector = new Int8Array(dimensions)
  let at = 0
  for (let k = 0; k < packed.length; k += 2) {
    at += packed[k] ?? 0
    vector[at] = packed[k + 1] ?? 0
  }
  return vector
}

/** The dot product of a vector and one that lies packed among others. */
export function dotPacked(
  vector: Int8Array,
  packed: Int8Array,
  { start, end }: { readonly start: number; readonly end: number },
): number {
  return end - start === vector.length ? dotWhole(vector, packed, start) : dotPairs(vector, packed, { start, end })
}

// The loops that count: no fallbacks, for the indices are within both arrays.

function dotPairs(vector: Int8Array, packed: Int8Array, { start, end }: { start: number; end: number }): number {
  let dot = 0
  let at = 0
  for (let k = start; k < end; k += 2) {
    at += packed[k]!
    dot += vector[at]! * packed[k + 1]!
  }
  return dot
}

/** Four sums at once. */
function dotWhole(vector: Int8Array, packed: Int8Array, start: number): number {
  let [a, b, c, d] = [0, 0, 0, 0]
  for (let i = 0, k = start; i < vector.length; i += 4, k += 4) {
    a += vector[i]! * packed[k]!
    b += vector[i + 1]! * packed[k + 1]!
    c += vector[i + 2]! * packed[k + 2]!
    d += vector[i + 3]! * packed[k + 3]!
  }
  return a + b + c + d
}
