import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import test from 'ava'

const MODULE = new URL('memory.ts', import.meta.url).href
const MAX_BYTES = 32 * 1024 * 1024

/** Fills a store beyond its bound with values of a kilobyte; prints how much larger the process has become. */
const PROGRAM = `
import { memoryStore } from '${MODULE}'
const store = memoryStore(${MAX_BYTES})
gc()
const before = process.memoryUsage.rss()
for (let i = 0; i < 60_000; i++) {
  if (i % 1000 === 0) gc()
  await store.set(String(i).padStart(43, 'k'), Buffer.allocUnsafeSlow(1024).fill(1), 1e9)
}
gc()
console.log(process.memoryUsage.rss() - before, (await store.get('59999'.padStart(43, 'k'))).length)
`

test('memory store: the process grows by its bound, not by the values alone', async (t) => {
  const args = ['--expose-gc', '--input-type=module', '--eval', PROGRAM]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  const [grownBytes = Number.NaN, lastBytes] = stdout.split(' ').map(Number)
  t.is(lastBytes, 1024)
  t.true(grownBytes <= 1.4 * MAX_BYTES, stdout)
})
