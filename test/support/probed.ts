import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { type GatewayProcess, startGatewayProcess } from './gateway-process.ts'
import type { LoopReport } from './loop-probe.ts'

/** A gateway that is measured from inside. */
export interface ProbedGateway extends GatewayProcess {
  /** Returns the measurements since the last report. */
  report(): Promise<LoopReport>
}

const PROBE = new URL('./loop-probe.ts', import.meta.url).href

/** As in the image and the unit of systemd: freed blocks of a megabyte and more go back to the system; threads share an arena. */
const ALLOCATOR = { MALLOC_MMAP_THRESHOLD_: '1048576', MALLOC_ARENA_MAX: '1' }

/** Opens a probe of a gateway's event loop, on Linux: its socket has a name and no file. */
export function openProbe(): { env: Readonly<Record<string, string>>; report(): Promise<LoopReport> } {
  const name = `turnpike-probe-${randomUUID()}`
  return {
    env: { LOOP_PROBE: name, NODE_OPTIONS: `--max-semi-space-size=16 --import=${PROBE}` },
    report: async () => JSON.parse(await text(connect(`\0${name}`))) as LoopReport,
  }
}

/** Starts a gateway with a probe of its event loop. */
export async function startProbed(env: Readonly<Record<string, string>>): Promise<ProbedGateway> {
  const probe = openProbe()
  const gateway = await startGatewayProcess({ ...ALLOCATOR, ...env, ...probe.env })
  return { ...gateway, report: probe.report }
}
