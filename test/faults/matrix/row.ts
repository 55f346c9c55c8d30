import test, { type ExecutionContext } from 'ava'
import { isDrill } from '../../support/drill.ts'
import { eventually } from '../../support/eventually.ts'
import type { LinkFault } from '../../support/fault-proxy.ts'
import type { GatewayProcess } from '../../support/gateway-process.ts'
import type { Owner } from '../../support/postgres.ts'
import { countOpenFiles, hasProcessFacts } from '../../support/process-facts.ts'
import { assertNothingLost } from './audit.ts'
import { type Cell, type Component, DEFAULT_WITHIN_S, FAULTS, type Fault, MATRIX, PROBES, type Probe } from './cells.ts'
import type { LinkName, Plant } from './plant.ts'
import { type Asked, isMiss, openProber, type Prober, type SendingOptions, untilAllWork } from './probes.ts'

/** Ends a fault. */
export type Lift = () => Promise<void> | void

/** A way in which a fault is made. */
export interface Way {
  readonly name: string
  readonly begin: (stand: Stand, t: ExecutionContext) => Promise<Lift> | Lift
  /** Promise for this way, where it differs from the cell's. */
  readonly cell?: Cell
}

/** A plant with its gateways, and their sender. */
export interface Stand {
  readonly plant: Plant
  /** The gateway that requests go to. May be another after a fault that needs a start. */
  cloud: GatewayProcess
  readonly local: GatewayProcess | undefined
  readonly prober: Prober
}

type Sent = Exclude<Probe, 'running'>

const ALL = Object.keys(PROBES) as Probe[]
const SENT = ALL.filter((probe): probe is Sent => probe !== 'running')
/** The machine may be busy; a hanging request is found nevertheless. */
const SLACK_MS = 25_000
const COMES_BACK_MS = 40_000
const MOST_TRIES = 5
/** Files of all pools of two gateways: database, caches, provider, Stripe. */
const SPARE_FILES = 60

/** Opens a stand; it ends with its owner. */
export async function openStand(
  plant: Plant,
  gateways: { cloud: GatewayProcess; local?: GatewayProcess },
): Promise<Stand> {
  const now = { plant, cloud: gateways.cloud, local: gateways.local }
  const prober = await openProber(plant, { cloud: () => now.cloud, local: () => now.local })
  return Object.assign(now, { prober })
}

/** Makes a fault of a link. */
export function spoil(link: LinkName, fault: LinkFault, name: string = fault.kind): Way {
  return {
    name: `${link} ${name}`,
    async begin({ plant }) {
      await plant.links[link]?.set(fault)
      return () => plant.links[link]?.set(undefined)
    },
  }
}

/** Declares a test for each promised cell of a row, one after another on a stand of their own. */
export function defineRow(
  component: Component,
  {
    open,
    ways,
    quick,
  }: {
    readonly open: (owner: Owner) => Promise<Stand>
    readonly ways: Readonly<Partial<Record<Fault, readonly Way[]>>>
    /** Cells that `npm test` runs too; `npm run drill:faults` runs all. */
    readonly quick: readonly Fault[]
  },
): void {
  for (const fault of FAULTS) {
    const cell = MATRIX[component].cells[fault]
    if ('cannot' in cell || !(isDrill || quick.includes(fault))) continue
    const title = `${component} × ${fault}: ${cell.says}`
    test.serial(title, async (t) => {
      t.timeout(isDrill ? 15 * 60_000 : 300_000)
      const stand = await open({ teardown: (end) => void endings.push(end) })
      for (const way of ways[fault] ?? []) await checkWay(t, stand, { ...way, cell: way.cell ?? cell })
    })
  }
  test(`${component}: each promised cell, and no other, is checked`, (t) => {
    const promised = FAULTS.filter((fault) => !('cannot' in MATRIX[component].cells[fault]))
    t.deepEqual(
      FAULTS.filter((fault) => (ways[fault]?.length ?? 0) > 0),
      promised,
    )
  })
}

const endings: (() => unknown)[] = []
test.after.always('close every stand', async () => {
  for (const end of endings.reverse()) await end()
})

/** Makes a fault, sends everything, lifts it, sends everything again, and looks through the books. */
async function checkWay(t: ExecutionContext, stand: Stand, way: Way & { cell: Cell }): Promise<void> {
  const { prober } = stand
  const probes = SENT.filter((probe) => stand.local !== undefined || !probe.startsWith('local'))
  const before = await untilAllWork(prober, probes, COMES_BACK_MS)
  assertOutcomes(t, before, {}, `${way.name}: before`)
  const filesBefore = countFiles(stand)
  const running = await prober.begin()
  const [first, second] = [await prober.prepare(), await prober.prepare()]
  const lift = await way.begin(stand, t)
  const during: Asked[] = []
  const { withinSeconds = DEFAULT_WITHIN_S, fails = {} } = way.cell
  const timeoutMs = 1000 * withinSeconds + SLACK_MS
  try {
    during.push(...(await sendAll(prober, probes, { timeoutMs, fails, purchase: first })), await running())
    during.push(...(await sendAll(prober, probes, { timeoutMs, fails, purchase: second })))
  } finally {
    await lift()
  }
  assertOutcomes(t, during, fails, way.name)
  const liftedAtMs = performance.now()
  const after = await untilAllWork(prober, probes, COMES_BACK_MS)
  const backMs = performance.now() - liftedAtMs
  await assertNoLeak(t, stand, filesBefore)
  assertOutcomes(t, after, {}, `${way.name}: after`)
  await payAgain(t, stand)
  await assertNothingLost(t, { plant: stand.plant, gateway: stand.cloud })
  const slowest = during.reduce((one, other) => (other.tookMs > one.tookMs ? other : one))
  t.log(
    `${way.name}: slowest ${slowest.probe} ${Math.round(slowest.tookMs)} ms; all works ${Math.round(backMs)} ms after`,
  )
}

/** Sends one of each, all at once. On a busy machine a store may be late without a fault: such requests are sent again. */
function sendAll(
  prober: Prober,
  probes: readonly Sent[],
  { fails = {}, ...options }: SendingOptions & Pick<Cell, 'fails'>,
): Promise<Asked[]> {
  const sendOne = async (probe: Sent): Promise<Asked> => {
    for (let tried = 1; ; tried++) {
      const asked = await prober.send(probe, options)
      const isLate = asked.outcome === '503' || isMiss(asked)
      if (!isLate || fails[probe] !== undefined || tried === MOST_TRIES) return asked
    }
  }
  return Promise.all(probes.map(sendOne))
}

/** Asserts that each request kept its promise: it worked, or failed as in `fails`. */
export function assertOutcomes(
  t: ExecutionContext,
  asked: readonly Asked[],
  fails: NonNullable<Cell['fails']>,
  when: string,
): void {
  const wrong = asked.filter(({ probe, outcome }) => !([fails[probe] ?? 'works'].flat() as string[]).includes(outcome))
  t.deepEqual(
    wrong.map(({ probe, outcome, tookMs }) => `${probe}: ${outcome} (${Math.round(tookMs)} ms)`),
    [],
    when,
  )
}

/** Connections that a fault has broken are closed; what pools may hold is spare. */
async function assertNoLeak(t: ExecutionContext, stand: Stand, before: number): Promise<void> {
  await eventually(() => countFiles(stand) <= before + SPARE_FILES, 'no connection is left over')
  t.true(countFiles(stand) <= before + SPARE_FILES)
}

function countFiles({ cloud, local }: Stand): number {
  if (!hasProcessFacts) return 0
  return [cloud, local].reduce((sum, gateway) => sum + (gateway === undefined ? 0 : countOpenFiles(gateway.pid)), 0)
}

/** Repeats with the same credential each payment that must come back, and asserts a reply. */
async function payAgain(t: ExecutionContext, { plant, prober }: Stand): Promise<void> {
  for (const purchase of plant.tally.owed)
    t.is((await prober.send('paid', { purchase })).outcome, 'works', 'who comes back is answered')
}
