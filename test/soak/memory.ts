import { setTimeout as sleep } from 'node:timers/promises'
import { residentBytes } from '../support/process-facts.ts'
import type { Fixture } from './fixture.ts'
import type { Finding } from './verdict.ts'

const MB = 2 ** 20
/** Most resident memory of a gateway after mixed load. */
const MOST_BYTES = 250 * MB
/** Resident memory of the bundle with every plugin after its start. The soak runs the sources, which take 65 MB more. */
const STARTS_WITH_BYTES = 157 * MB
/** Two collections of a day of twelve minutes. */
const LONGEST_WAIT_MS = 45_000
const POLL_MS = 500

/** Reads the resident memory of each gateway, in bytes. */
export function readMemory({ nodes }: Pick<Fixture, 'nodes'>): number[] {
  return nodes.map(({ gateway }) => residentBytes(gateway.pid))
}

/**
 * Judges each gateway's resident memory when the traffic has ended and garbage is collected: what the day has added to
 * `before` must leave the bundle within 250 MB.
 */
export async function judgeMemory(fixture: Pick<Fixture, 'nodes'>, before: readonly number[]): Promise<Finding[]> {
  const read = () => readMemory(fixture).map((bytes, index) => STARTS_WITH_BYTES + bytes - (before[index] ?? 0))
  const isFine = (bytes: number) => bytes <= MOST_BYTES
  const deadlineMs = performance.now() + LONGEST_WAIT_MS
  let found = read()
  while (!found.every(isFine) && performance.now() < deadlineMs) {
    await sleep(POLL_MS)
    found = read()
  }
  const print = (bytes: readonly number[]) => bytes.map((each) => (each / MB).toFixed(0)).join(' and ')
  const cells = [`${print(found)}, at most ${print([MOST_BYTES])}; read ${print(readMemory(fixture))}`]
  return [{ name: 'resident memory of the bundle at the end, MB', isFine: found.every(isFine), cells }]
}
