import test from 'ava'
import fc from 'fast-check'
import { type Costs, costsSchema } from './costs.ts'
import { planMachines } from './plan.ts'
import { trafficSchema } from './traffic.ts'

const pipeline = (loop: number) => ({
  gateway: [
    { kilobytes: 1, loop, other: loop / 2 },
    { kilobytes: 100, loop: loop * 3, other: loop / 2 },
  ],
  postgres: { microseconds: 100, transactions: 0.5 },
  redis: { microseconds: 20, commands: 2 },
})
const costs: Costs = costsSchema.parse({
  measured: { at: '2026-01-01', machine: 'of a test', command: 'none' },
  pipelines: { none: pipeline(200), default: pipeline(400), capped: pipeline(800), hit: pipeline(50) },
  streamEvent: { loop: 10, other: 2 },
  memory: { processMegabytes: 200, openStreamKilobytes: 10 },
  stored: { receiptBytes: 1000, telemetryBytes: 1000, replyOverheadBytes: 100 },
})
const plan = (fields: object) => planMachines(trafficSchema.parse({ requests_per_second: 10, ...fields }), costs)

test('size: one machine and a spare are enough for little', (t) => {
  const { machines, spareMachines, processesPerMachine } = plan({})
  t.deepEqual(
    { machines, spareMachines, processesPerMachine },
    { machines: 1, spareMachines: 1, processesPerMachine: 4 },
  )
})

test('size: CPU decides for much, memory for long streams on small machines, the wait where it must be short', (t) => {
  t.is(plan({ requests_per_second: 5000 }).decidedBy, 'cpu')
  t.is(
    plan({ requests_per_second: 300, stream_seconds: 600, stream_events: 10, machine: { memory_gigabytes: 1 } })
      .decidedBy,
    'memory',
  )
  t.is(plan({ requests_per_second: 900, added_p99_ms: 7, busiest: 0.95 }).decidedBy, 'latency')
})

test('size: the fleet keeps every bound, and one machine fewer would not', (t) => {
  const traffic = fc.record({
    requests_per_second: fc.integer({ min: 1, max: 3000 }),
    request_kilobytes: fc.integer({ min: 1, max: 400 }),
    hits: fc.constantFrom(0, 0.3, 1),
    pipeline: fc.constantFrom('none', 'default', 'capped'),
    stream_events: fc.integer({ min: 1, max: 500 }),
    machine: fc.record({ cores: fc.integer({ min: 1, max: 16 }), memory_gigabytes: fc.constant(8) }),
  })
  fc.assert(
    fc.property(traffic, (fields) => {
      const found = plan({ ...fields, added_p99_ms: 60 })
      t.true(found.busyInBurst <= 0.6)
      t.true(found.waits.p99Ms <= 60)
      if (found.machines === 1) return
      const busierBy = found.machines / (found.machines - 1)
      if (found.decidedBy === 'cpu') t.true(found.busyInBurst * busierBy > 0.6)
    }),
    { numRuns: 12 },
  )
})

test('size: hits cost what hits cost, and what is stored follows the days it is kept', (t) => {
  const [none, all] = [plan({ hits: 0 }), plan({ hits: 1 })]
  t.true(all.busyInBurst < none.busyInBurst / 3)
  const day = 10 * 8 * 3600
  const gigabytes = (day * (1000 * 400 + 1000 * 30)) / 1024 ** 3
  t.is(none.postgres.storedGigabytes.toFixed(6), gigabytes.toFixed(6))
  t.is(plan({ receipts_days: 200, telemetry_days: 15 }).postgres.storedGigabytes.toFixed(6), (gigabytes / 2).toFixed(6))
})

test('size: a wait that no machine keeps is refused with the least there is', (t) => {
  t.throws(() => plan({ request_kilobytes: 4000 }), { instanceOf: RangeError, message: /at least \d+: so long/ })
})

test('size: no machine is large enough for a stream that costs more than all its memory', (t) => {
  t.throws(
    () => plan({ request_kilobytes: 32_768, stream_seconds: 3600, requests_per_second: 1e6, added_p99_ms: 10_000 }),
    {
      instanceOf: RangeError,
      message: /More than 10000 machines/,
    },
  )
})
