import type { FuzzCase, Fuzzer } from './fuzzer.ts'

/** Bounds the search: a case that is slow to judge would never end. */
const MOST_TRIES = 3000

/** The case without whatever it need not have to break a promise, and the error that it breaks it with. */
export async function shrink(fuzzer: Fuzzer, found: FuzzCase): Promise<{ input: FuzzCase; error: unknown }> {
  let input = found
  let tries = 0
  const errorOf = async (each: FuzzCase) => {
    tries++
    try {
      await fuzzer.run(each)
    } catch (error) {
      return { error }
    }
    return undefined
  }
  let last = await errorOf(found)
  for (let size = input.text.length >> 1; size > 0 && tries < MOST_TRIES; size >>= 1) {
    for (let at = 0; at < input.text.length && tries < MOST_TRIES; ) {
      const smaller = { ...input, text: input.text.slice(0, at) + input.text.slice(at + size) }
      const failed = await errorOf(smaller)
      if (failed === undefined) at += size
      else [input, last] = [smaller, failed]
    }
  }
  return { input, error: last?.error ?? new Error('it fails sometimes only') }
}
