const ROUNDS = 25

/**
 * Returns the `count` orthogonal directions, of length 1, of largest variance in centred `rows`: the first eigenvectors
 * of their covariance, by orthogonal iteration from a fixed start, so that the same rows give the same axes.
 */
export function principalAxes(rows: readonly (readonly number[])[], count: number): Float64Array[] {
  const size = rows[0]?.length ?? 0
  const covariance = covarianceOf(rows, size)
  let axes: Float64Array[] = Array.from({ length: count }, (_, k) =>
    Float64Array.from({ length: size }, (_, i) => Math.sin(1 + i * (k + 1))),
  )
  orthonormalise(axes)
  for (let round = 0; round < ROUNDS; round++) {
    axes = axes.map((axis) =>
      covariance.reduce((sum, row, i) => addScaled(sum, row, axis[i] ?? 0), new Float64Array(size)),
    )
    orthonormalise(axes)
  }
  return axes
}

function covarianceOf(rows: readonly (readonly number[])[], size: number): Float64Array[] {
  const covariance = Array.from({ length: size }, () => new Float64Array(size))
  for (const row of rows) for (const [i, sums] of covariance.entries()) addScaled(sums, row, row[i] ?? 0)
  return covariance
}

/** Orthonormalises in place, by Gram-Schmidt. */
function orthonormalise(axes: readonly Float64Array[]): void {
  axes.forEach((axis, k) => {
    for (const earlier of axes.slice(0, k)) addScaled(axis, earlier, -dot(axis, earlier))
    const length = Math.sqrt(dot(axis, axis))
    axis.forEach((value, i) => {
      axis[i] = value / length
    })
  })
}

function addScaled<Sum extends Float64Array>(sum: Sum, row: ArrayLike<number>, factor: number): Sum {
  for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] ?? 0) + factor * (row[i] ?? 0)
  return sum
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0)
  return sum
}
