/** Components of a folded vector. */
export const FOLDED = 80

/**
 * Folds a vector into fewer components: each is added to one of them, with a sign of its own, so that cosines stay about the
 * same. The graph only proposes candidates, and takes a fraction of the room so; their true cosines are taken afterwards.
 */
export function fold(vector: Int8Array): number[] {
  const folded: number[] = new Array(FOLDED).fill(0)
  for (let i = 0; i < vector.length; i++) {
    const component = vector[i] ?? 0
    if (component === 0) continue
    const mixed = Math.imul(i + 1, 0x9e3779b1)
    const slot = i % FOLDED
    folded[slot] = (folded[slot] ?? 0) + (mixed & 0x8000 ? component : -component)
  }
  return folded
}
