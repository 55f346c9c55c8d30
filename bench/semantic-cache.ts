/**
 * Cost of a look-up of the semantic cache on the main loop: `node bench/semantic-cache.ts`. Mode `strict` reads the
 * text, converts it to its form and hashes it with the scope, without vectors.
 */
import { formOf } from '../plugins/semantic-cache/form.ts'
import { keyOf } from '../plugins/semantic-cache/key.ts'

const WARM_UP = 500
const LOOKUPS = 3000
const WORDS = 'harbour kettle meadow lantern copper violin garden ladder winter basket'.split(' ')
const LIMITS = { maxWords: 400 }

function textOf(n: number, words: number): string {
  const some = Array.from({ length: words }, (_, i) => WORDS[(n + i * 7) % WORDS.length]).join(' ')
  return `Hi! Could you tell me how to move the ${some} without losing order ${n}? Thanks!`
}

for (const words of [3, 40, 350]) {
  const timesMs: number[] = []
  for (let n = 0; n < WARM_UP + LOOKUPS; n++) {
    const text = textOf(n, words)
    const startedMs = performance.now()
    keyOf('scope', formOf(text, LIMITS).form)
    if (n >= WARM_UP) timesMs.push(performance.now() - startedMs)
  }
  timesMs.sort((a, b) => a - b)
  const quantile = (share: number) => (timesMs[Math.floor(share * timesMs.length)] ?? 0).toFixed(3)
  console.log(`${words + 14} words: p50 ${quantile(0.5)} ms, p95 ${quantile(0.95)} ms`)
}
