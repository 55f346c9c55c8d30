const DECIMAL = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/

/**
 * Returns `value` × 10^`exponent` as an integer, rounded up. Exact: it works on the decimal digits of the number, so
 * that 0.1 is a tenth. Throws `RangeError` for a negative or infinite value.
 */
export function scaleUp(value: number, exponent: number): bigint {
  const [, whole, fraction = '', power = '0'] = DECIMAL.exec(String(value)) ?? []
  if (whole === undefined) throw new RangeError(`expected a price of 0 or more, got \`${value}\``)
  const digits = BigInt(whole + fraction)
  const shift = exponent + Number(power) - fraction.length
  return shift >= 0 ? digits * 10n ** BigInt(shift) : divideUp(digits, 10n ** BigInt(-shift))
}

/** Returns the quotient, rounded up. Both are 0 or more, the divisor is not 0. */
export function divideUp(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor
}
