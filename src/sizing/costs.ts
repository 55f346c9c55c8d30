import { z } from 'zod'

const amount = z.number().min(0)

/** CPU of one request in microseconds: of the event loop, which is one thread, and of all other threads together. */
const cpu = z.strictObject({ loop: amount, other: amount })
const gatewayCost = cpu.extend({ kilobytes: z.number().positive() })
const pipelineCost = z.strictObject({
  /** By size of the request's body, smallest first. */
  gateway: z.array(gatewayCost).min(1),
  postgres: z.strictObject({ microseconds: amount, transactions: amount }),
  redis: z.strictObject({ microseconds: amount, commands: amount }),
})

/**
 * What a request costs, as `npm run bench:costs` measured it: `config/cost-model.json`. Times are microseconds of CPU,
 * user and system; of PostgreSQL and Redis all their processes together.
 */
export const costsSchema = z.strictObject({
  measured: z.strictObject({ at: z.string(), machine: z.string(), command: z.string() }),
  pipelines: z.strictObject({ none: pipelineCost, default: pipelineCost, capped: pipelineCost, hit: pipelineCost }),
  /** Of one event of a stream that comes in a packet of its own. */
  streamEvent: cpu,
  memory: z.strictObject({ processMegabytes: amount, openStreamKilobytes: amount }),
  /** On disk, indexes included; what is logged ahead is not counted. */
  stored: z.strictObject({ receiptBytes: amount, telemetryBytes: amount, replyOverheadBytes: amount }),
})

export type Costs = z.output<typeof costsSchema>
export type Cpu = z.output<typeof cpu>
export type PipelineCost = z.output<typeof pipelineCost>

/** CPU of a request of `kilobytes`, between the sizes that were measured and, by the last two, beyond them. */
export function cpuAt(gateway: PipelineCost['gateway'], kilobytes: number): Cpu {
  const above = gateway.findIndex((each) => each.kilobytes >= kilobytes)
  const index = above === -1 ? gateway.length - 1 : Math.max(above, 1)
  const [from, to] = [gateway[index - 1], gateway[index]]
  const first = gateway[0] as Cpu & { kilobytes: number } // safe: the schema asks for one at least
  if (from === undefined || to === undefined || kilobytes <= first.kilobytes) return first
  const share = (kilobytes - from.kilobytes) / (to.kilobytes - from.kilobytes)
  const between = (name: keyof Cpu) => from[name] + share * (to[name] - from[name])
  return { loop: between('loop'), other: between('other') }
}
