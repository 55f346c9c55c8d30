import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import test from 'ava'

/** Works in bursts that leave little behind; prints by how many megabytes the process was smaller when it had rested. */
const PROGRAM = `
import { setTimeout as sleep } from 'node:timers/promises'
import { releaseMemoryAtRest } from ${JSON.stringify(import.meta.resolve('./rest.ts'))}
const [rests] = process.argv.slice(1)
if (rests === 'rests') releaseMemoryAtRest({ everyMs: 200, workedMs: 20 })
const kept = []
for (let round = 0; round < 60; round++) {
  kept.push(Array.from({ length: 20_000 }, () => ({ round, and: 1, more: 2 })))
  await sleep(1)
}
kept.length = 0
const before = process.memoryUsage.rss()
await sleep(1500)
console.log((before - process.memoryUsage.rss()) / 2 ** 20, globalThis.gc === undefined)
`

async function run(rests: string): Promise<[released: number, isHidden: boolean]> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', PROGRAM, rests])
  const [released, isHidden] = stdout.split(' ')
  return [Number(released), isHidden?.trim() === 'true']
}

test('rest: a thread that rests after work returns its memory, and one that does not look for it keeps it', async (t) => {
  const [released, isHidden] = await run('rests')
  t.true(released > 40, `${released} MB`)
  t.true(isHidden)
  const [withoutRest] = await run('-')
  t.true(withoutRest < 20, `${withoutRest} MB`)
})
