import { execFileSync } from 'node:child_process'
import type { ExecutionContext } from 'ava'
import { eventually } from '../../support/eventually.ts'
import { startFaultProxy } from '../../support/fault-proxy.ts'
import type { GatewayProcess } from '../../support/gateway-process.ts'
import { ask, send } from '../../support/http-client.ts'
import { isPostgresExpected, type Owner } from '../../support/postgres.ts'
import { isRedisExpected } from '../../support/redis.ts'
import { type Cell, type Fault, MATRIX, type NoCell } from './cells.ts'
import { type LinkName, openPlant } from './plant.ts'
import { openProber, untilAllWork } from './probes.ts'
import { assertOutcomes, defineRow, openStand, type Stand, spoil, type Way } from './row.ts'

/*
 * Two gateways of one service: `first` goes through links that can be spoiled, and can be spoiled itself; `second` goes
 * straight to everything, and serves on.
 */

interface Pair {
  first: GatewayProcess
  readonly second: GatewayProcess
  readonly ofFirst: Stand
  readonly ofSecond: Stand
}

const ALL_OF_SECOND = ['health', 'call', 'stream', 'hit', 'capped', 'keys', 'paid', 'checkout'] as const
const PATIENCE_MS = 40_000
/** Than any gateway has open. */
const FEWER_FILES = 16
/** A tenth of its processor. */
const RUNS_MS = 10
const STANDS_MS = 90

let opened: Promise<Pair> | undefined

function openPair(owner: Owner): Promise<Pair> {
  opened ??= openOnce(owner)
  return opened
}

async function openOnce(owner: Owner): Promise<Pair> {
  const plant = await openPlant(owner, { engine: 'postgres' })
  const first = await plant.startCloud()
  const second = await plant.startCloud({})
  const ofFirst = await openStand(plant, { cloud: first })
  return { first, second, ofFirst, ofSecond: await openStand(plant, { cloud: second }) }
}

/** Returns the pair of an open stand. */
async function pairOf(): Promise<Pair> {
  if (opened === undefined) throw new Error('The pair is not open.')
  return opened
}

function signal({ pid }: GatewayProcess, name: NodeJS.Signals): void {
  process.kill(pid, name)
}

/** Waits until the first serves again. */
async function untilServing({ first }: Pair): Promise<void> {
  const isServing = () =>
    send(first.url, { method: 'GET', path: '/health' }).then(
      ({ status }) => status === 200,
      () => false,
    )
  await eventually(isServing, 'the first gateway serves again')
}

/** Kills the first during a paid call; a repeated request, to any gateway, is answered. */
async function killInTheMiddle(pair: Pair, t: ExecutionContext): Promise<void> {
  const { ofSecond, first } = pair
  const { plant, prober } = ofSecond
  const purchase = await prober.prepare(ask('hold in-the-middle'))
  const before = plant.provider.seen.length
  const cut = prober.send('paid', { purchase, at: first.url })
  await eventually(() => plant.provider.seen.length > before, 'the provider is asked')
  signal(first, 'SIGKILL')
  await first.exited
  t.regex((await cut).outcome, /no answer/)
  plant.release('in-the-middle')
}

/** Releases the dead gateway's holds, as time would. */
async function startFirst(pair: Pair): Promise<void> {
  const { plant } = pair.ofFirst
  await pair.first.stop()
  for (const table of ['spend_hold', 'credit_hold'])
    await plant.sql(`update ${table} set due_at_ms = 0 where state = 'open'`)
  pair.first = await plant.startCloud()
}

const killed: Way = {
  name: 'killed',
  async begin() {
    const pair = await pairOf()
    signal(pair.first, 'SIGKILL')
    return () => startFirst(pair)
  },
}

const killedInTheMiddle: Way = {
  name: 'killed with a paid call in flight',
  async begin(_, t) {
    const pair = await pairOf()
    await killInTheMiddle(pair, t)
    return () => startFirst(pair)
  },
}

const stopped: Way = {
  name: 'stands still',
  async begin() {
    const pair = await pairOf()
    signal(pair.first, 'SIGSTOP')
    return async () => {
      signal(pair.first, 'SIGCONT')
      await untilServing(pair)
    }
  },
}

const starved: Way = {
  name: 'gets a tenth of its processor',
  async begin() {
    const pair = await pairOf()
    const stop = setInterval(() => {
      signal(pair.first, 'SIGSTOP')
      setTimeout(() => signal(pair.first, 'SIGCONT'), STANDS_MS)
    }, RUNS_MS + STANDS_MS)
    return async () => {
      clearInterval(stop)
      await untilServing(pair)
    }
  },
}

const noFiles: Way = {
  name: 'no file descriptors left',
  async begin(_, t) {
    const pair = await pairOf()
    const limit = (files: string) => execFileSync('prlimit', ['--pid', `${pair.first.pid}`, `--nofile=${files}`])
    const [, soft] =
      /NOFILE.*?(\d+) +\d+ files/.exec(execFileSync('prlimit', ['--pid', `${pair.first.pid}`]).toString()) ?? []
    limit(`${FEWER_FILES}:`)
    const health = () =>
      send(pair.first.url, { method: 'GET', path: '/health', timeoutMs: 1000 }).then(
        ({ status }) => status,
        () => 0,
      )
    t.not(await health(), 200, 'it takes no connections')
    return async () => {
      limit(`${soft}:`)
      await untilServing(pair)
    }
  },
}

if (isPostgresExpected && isRedisExpected) {
  defineRow('gateway', {
    open: async (owner) => (await openPair(owner)).ofSecond,
    ways: {
      refuses: [killed],
      hangs: [stopped],
      slow: [starved],
      resets: [killedInTheMiddle],
      full: [noFiles],
    },
    quick: [],
  })
  defineRow('network', {
    open: async (owner) => {
      const { ofFirst, first } = await openPair(owner)
      return Object.assign(ofFirst, { cloud: first })
    },
    ways: {
      refuses: [...partitions('refuses'), ofClients('refuses')],
      hangs: [...partitions('hangs'), ofClients('hangs')],
      slow: [...partitions('slow'), ofClients('slow')],
      resets: [...partitions('resets'), ofClients('resets')],
      garbage: [...partitions('garbage'), ofClients('garbage')],
    },
    quick: [],
  })
}

/** Returns the kind of fault that a link has. */
function linkFault(fault: Exclude<Fault, 'full'>) {
  if (fault === 'slow') return { kind: 'slow', delayMs: 20 } as const
  if (fault === 'garbage') return { kind: 'answers' } as const
  return { kind: fault } as const
}

/** Breaks each link of the first in turn: the first acts as if the server behind had failed, and the second keeps serving. */
function partitions(fault: Exclude<Fault, 'full'>): Way[] {
  return (['postgres', 'redis', 'provider', 'stripe'] as const).map((link: LinkName) => {
    const way = spoil(link, linkFault(fault))
    return {
      name: `first and ${link}: ${fault}`,
      cell: promised(MATRIX[link].cells[fault]),
      async begin(stand, t) {
        const lift = await way.begin(stand, t)
        const { ofSecond } = await pairOf()
        assertOutcomes(t, await untilAllWork(ofSecond.prober, ALL_OF_SECOND, PATIENCE_MS), {}, `second, ${way.name}`)
        return lift
      },
    }
  })
}

/** Lets clients reach the first through a broken link: other clients notice nothing. */
function ofClients(fault: Exclude<Fault, 'full'>): Way {
  return {
    name: `first and its clients: ${fault}`,
    async begin({ plant, cloud }) {
      const proxy = await startFaultProxy(cloud.url)
      const prober = await openProber(plant, { cloud: () => ({ ...cloud, url: proxy.url }), local: () => undefined })
      await proxy.set(linkFault(fault))
      const lost = Promise.all((['call', 'stream', 'capped'] as const).map((probe) => prober.send(probe)))
      return async () => {
        await proxy.set(undefined)
        await lost
        await proxy.close()
      }
    },
  }
}

function promised(cell: Cell | NoCell): Cell {
  if ('cannot' in cell) throw new Error('Expected a cell that is promised.')
  return cell
}
