import { setTimeout as sleep } from 'node:timers/promises'
import { residentBytes } from '../support/process-facts.ts'

const MB = 1024 * 1024
/** Above the start, after any pass. */
const MOST_LEFT_BYTES = 200 * MB
/** Above the pass before. */
const MOST_GROWN_BYTES = 32 * MB
const SETTLING_SECONDS = 30

/** Memory that is left after one pass of all bodies. */
export interface LeftMemory {
  /** Resident memory above the start. */
  readonly leftBytes: number
  readonly faults: readonly string[]
}

/** Returns what judges the memory of process `pid` after each pass, from its resident memory now. */
export function watchMemory(pid: number): () => Promise<LeftMemory> {
  const startBytes = residentBytes(pid)
  let beforeBytes: number | undefined
  return async () => {
    const leftBytes = (await settledBytes(pid)) - startBytes
    const grownBytes = beforeBytes === undefined ? 0 : leftBytes - beforeBytes
    beforeBytes = leftBytes
    return {
      leftBytes,
      faults: [
        ...(leftBytes > MOST_LEFT_BYTES ? [`${toMb(leftBytes)} left of ${toMb(MOST_LEFT_BYTES)}`] : []),
        ...(grownBytes > MOST_GROWN_BYTES ? [`${toMb(grownBytes)} more than after the pass before`] : []),
      ],
    }
  }
}

/** Returns the least of some readings: garbage collections come with the continuing traffic. */
async function settledBytes(pid: number): Promise<number> {
  let least = residentBytes(pid)
  for (let i = 0; i < SETTLING_SECONDS; i++) {
    await sleep(1000)
    least = Math.min(least, residentBytes(pid))
  }
  return least
}

/** As text, in whole megabytes. */
export function toMb(bytes: number): string {
  return `${(bytes / MB).toFixed()} MB`
}
