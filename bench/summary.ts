import type { Measurement } from './campaign.ts'
import { median } from './statistics.ts'

type Field = 'cpuMicroseconds' | 'loopMicroseconds' | 'p50Ms' | 'p99Ms' | 'firstByteMs'

const CPU_FIELDS: ReadonlySet<Field> = new Set(['cpuMicroseconds', 'loopMicroseconds'])

/** Memory of one gateway over the whole run, in bytes. */
export interface Memory {
  startBytes: number
  endBytes: number
  peakBytes: number
  idleStreamBytes?: number
}

/**
 * CPU of the cheapest round: whatever else uses the caches and cores of the machine, also beyond what this system sees,
 * only ever adds to it. Latencies are medians over the rounds. Undefined where the gateway or the case was not measured.
 */
export interface Summary {
  figure(targetName: string, caseName: string, field: Field): number | undefined
  /** Median and largest of the rounds. */
  spread(targetName: string, caseName: string, field: Field): [number, number] | undefined
  /** Figure minus that of the direct line in the same round. */
  added(targetName: string, caseName: string, field: Field): number | undefined
  /** Ratio of one gateway's CPU to another's, both as multiples of the bare relay that took turns with them. */
  ratio(targetName: string, otherName: string, caseName: string): number | undefined
  memory: ReadonlyMap<string, Memory>
}

/** Summarises the measurements of all rounds. */
export function summarise(
  measurements: readonly Measurement[],
  memory: ReadonlyMap<string, Memory> = new Map(),
): Summary {
  const rounds = (targetName: string, caseName: string) =>
    measurements.filter((one) => one.targetName === targetName && one.caseName === caseName)
  const values = (targetName: string, caseName: string, field: Field) =>
    rounds(targetName, caseName).flatMap((one) => finite(one[field]))
  const figure: Summary['figure'] = (targetName, caseName, field) => {
    const all = values(targetName, caseName, field)
    return finite(CPU_FIELDS.has(field) ? Math.min(...all) : median(all))[0]
  }
  /** Divides by the cheapest of the bare relay's rounds in which the gateway had its turn; NaN if there are none. */
  const multiple = (targetName: string, caseName: string): number => {
    const shared = new Set(rounds(targetName, caseName).map(({ round }) => round))
    const bare = rounds('bare', caseName).filter(({ round }) => shared.has(round))
    const least = Math.min(...bare.flatMap((one) => finite(one.cpuMicroseconds)))
    return (figure(targetName, caseName, 'cpuMicroseconds') ?? Number.NaN) / least
  }
  return {
    memory,
    figure,
    spread(targetName, caseName, field) {
      const all = values(targetName, caseName, field)
      return all.length === 0 ? undefined : [median(all), Math.max(...all)]
    },
    added(targetName, caseName, field) {
      const differences = rounds(targetName, caseName).flatMap((one) => {
        const direct = rounds('direct', caseName).find(({ round }) => round === one.round)
        return finite((one[field] ?? Number.NaN) - (direct?.[field] ?? Number.NaN))
      })
      return finite(median(differences))[0]
    },
    ratio(targetName, otherName, caseName) {
      return finite(multiple(targetName, caseName) / multiple(otherName, caseName))[0]
    },
  }
}

function finite(value: number | undefined): number[] {
  return value !== undefined && Number.isFinite(value) ? [value] : []
}
