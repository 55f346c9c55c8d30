import { setTimeout as sleep } from 'node:timers/promises'
import { residentBytes } from '../support/process-facts.ts'
import type { Fixture } from './fixture.ts'
import type { Finding } from './verdict.ts'

const MB = 2 ** 20
/** Most resident memory of a gateway after mixed load. */
const MOST_BYTES = 250 * MB
/** Two collections of a day of twelve minutes. */
const LONGEST_WAIT_MS = 45_000
const POLL_MS = 500

/** Judges each gateway's resident memory when the traffic has ended and garbage is collected. */
export async function judgeMemory({ nodes }: Pick<Fixture, 'nodes'>): Promise<Finding[]> {
  const read = () => nodes.map(({ gateway }) => residentBytes(gateway.pid))
  const isFine = (bytes: number) => bytes <= MOST_BYTES
  const deadlineMs = performance.now() + LONGEST_WAIT_MS
  let found = read()
  while (!found.every(isFine) && performance.now() < deadlineMs) {
    await sleep(POLL_MS)
    found = read()
  }
  const print = (bytes: readonly number[]) => bytes.map((each) => (each / MB).toFixed(0)).join(' and ')
  const cells = [`${print(found)}, at most ${print([MOST_BYTES])}`]
  return [{ name: 'resident memory at the end, MB', isFine: found.every(isFine), cells }]
}
