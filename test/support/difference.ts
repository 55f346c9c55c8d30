const SHOWN = 40

/** Describes the first difference of two texts or bytes, with its surroundings; `undefined` when they are equal. */
export function differenceOf(actual: Buffer | string | undefined, expected: Buffer | string): string | undefined {
  if (actual === undefined) return 'nothing came'
  const [left, right] = [Buffer.from(actual), Buffer.from(expected)]
  if (left.equals(right)) return undefined
  const shorter = Math.min(left.length, right.length)
  let at = 0
  while (at < shorter && left[at] === right[at]) at++
  const around = (bytes: Buffer) => JSON.stringify(bytes.toString('latin1', Math.max(0, at - SHOWN), at + SHOWN))
  return `byte ${at} of ${left.length}: got ${around(left)}, expected ${around(right)} (${right.length} bytes)`
}
