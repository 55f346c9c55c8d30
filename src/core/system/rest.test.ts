import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import test from 'ava'
import type { RestOptions } from './rest.ts'

const RELEASED_MB = 40

/**
 * Needs memory once, and then rests or stays a little busy, until it is smaller by 40 MB or `longestMs` have passed. Prints
 * by how many megabytes it is smaller, and whether code can call the collector.
 */
const PROGRAM = `
import { setTimeout as sleep } from 'node:timers/promises'
import { runInNewContext } from 'node:vm'
import { releaseMemoryAtRest } from ${JSON.stringify(import.meta.resolve('./rest.ts'))}
const { rest, isBusy, longestMs } = JSON.parse(process.argv[1])
releaseMemoryAtRest(rest)
const kept = []
for (let round = 0; round < 60; round++) {
  kept.push(Array.from({ length: 20_000 }, () => ({ round, and: 1, more: 2 })))
  await sleep(1)
}
kept.length = 0
const before = process.memoryUsage.rss()
const released = () => (before - process.memoryUsage.rss()) / 2 ** 20
const endMs = performance.now() + longestMs
while (released() < ${RELEASED_MB} && performance.now() < endMs) {
  await sleep(50)
  for (const untilMs = performance.now() + 20; isBusy && performance.now() < untilMs; );
}
console.log(released(), runInNewContext('typeof gc'))
`

interface Life {
  readonly rest: RestOptions
  readonly isBusy: boolean
  readonly longestMs: number
}

async function live(life: Life): Promise<[releasedMb: number, collector: string | undefined]> {
  const args = ['--input-type=module', '--eval', PROGRAM, JSON.stringify(life)]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  const [released, collector] = stdout.trim().split(' ')
  return [Number(released), collector]
}

const rest: RestOptions = { everyMs: 200, workedMs: 20 }

test('rest: a thread that rests after work returns its memory', async (t) => {
  const [releasedMb, collector] = await live({ rest, isBusy: false, longestMs: 20_000 })
  t.true(releasedMb >= RELEASED_MB, `${releasedMb} MB`)
  t.is(collector, 'undefined')
})

test('rest: a thread that is busy, or has worked little, is not stopped for a collection', async (t) => {
  const [busyMb] = await live({ rest, isBusy: true, longestMs: 1500 })
  t.true(busyMb < RELEASED_MB, `${busyMb} MB`)
  const [littleMb] = await live({ rest: { everyMs: 200, workedMs: 60_000 }, isBusy: false, longestMs: 1500 })
  t.true(littleMb < RELEASED_MB, `${littleMb} MB`)
})
