/** Creates Lehmer's generator: whole numbers from 1 to 2³¹ − 2, the same on every run. */
export function lehmer(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48271) % 2147483647
    return state
  }
}
