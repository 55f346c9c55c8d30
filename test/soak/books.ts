import { setTimeout as sleep } from 'node:timers/promises'
import { countOpenFiles } from '../support/process-facts.ts'
import { booksOf } from '../support/stripe/machine-payments.ts'
import type { Databases } from './database.ts'
import type { Fixture } from './fixture.ts'
import type { Tally } from './tally.ts'
import type { Finding } from './verdict.ts'

/** Inputs of the audit after the traffic has ended. */
export interface EveningOptions {
  readonly fixture: Fixture
  readonly databases: Databases
  readonly tally: Tally
  readonly paidAnswers: number
  /** By process. */
  readonly filesBefore: readonly number[]
}

/** Files that a process may open once and keep: connections to its databases, watched folders, a resolver's socket. */
const SPARE_FILES = 16
const LONGEST_WAIT_MS = 45_000
const POLL_MS = 500
/** Statuses that the provider's moods, or a machine that is too slow, explain. */
const EXPLAINED = new Set(['200', '400', '429', '500', '502', '503', '529'])
/** Share of requests that may fail: the provider's moods are some three in a hundred. */
const MAY_FAIL = 0.1
/** In a short day a few are many. */
const FEW = 5
/** Most of a broken reply's average cost, by a whole one's: receipts do not guess it, the caps count it. */
const BROKEN_OFF = 2
/** By how much one of them may be beyond that: three times the deviation of what requests here cost. */
const BEYOND_NANO_USD = 150_000_000

/** Agents that pay have no account, no user and no key. */
const OF_ACCOUNTS = `scope not like 'agent:%'`

/** Files open now, by process. */
export function openFiles({ nodes }: Pick<Fixture, 'nodes'>): number[] {
  return nodes.map(({ gateway }) => countOpenFiles(gateway.pid))
}

/** Waits until nothing runs any more, at most 45 seconds, and looks through the books. */
export async function endDay(options: EveningOptions): Promise<Finding[]> {
  const deadlineMs = performance.now() + LONGEST_WAIT_MS
  let [books, before] = [await readBooks(options), '']
  while (!(isOver(books) && print(books) === before) && performance.now() < deadlineMs) {
    before = print(books)
    await sleep(POLL_MS)
    books = await readBooks(options)
  }
  return [...judgeBooks(books, options), ...judgeReplies(options)]
}

type Books = Awaited<ReturnType<typeof readBooks>>

async function readBooks(options: EveningOptions) {
  const { databases } = options
  const sum = async (what: string, where?: 'telemetry'): Promise<number> =>
    Number((await databases.sql(`select ${what}`, where))[0]?.sum ?? 0)
  const settledOn = (scope: string): Promise<number> =>
    sum(`sum(settled_nano_usd) as sum from spend_window where window_id like 'd:%' and ${scope}`)
  return {
    openHolds: await sum(`count(*) as sum from spend_hold where state = 'open'`),
    openCalls: await sum(`count(*) as sum from credit_hold where state = 'open'`),
    held: await sum('sum(held_nano_usd) as sum from spend_window'),
    heldCredits: await sum('sum(held_credits) as sum from account'),
    heldCalls: await sum('sum(held_calls) as sum from call_window'),
    byKeys: await settledOn(`scope like 'key:%' and scope not like 'key:agent:%'`),
    byUsers: await settledOn(`scope like 'user:%'`),
    byHours: await sum(`sum(cost_nano_usd) as sum from usage_hour where ${OF_ACCOUNTS}`, 'telemetry'),
    counted: await sum(`sum(requests) as sum from usage_hour where ${OF_ACCOUNTS}`, 'telemetry'),
    calls: await sum('sum(settled_calls) as sum from call_window'),
    credits: await sum('sum(posted_credits) as sum from account'),
    entries: await sum('sum(credits) as sum from ledger_entry'),
    charged: await sum('sum(charged_credits) as sum from overage_hour'),
    entered: -(await sum('sum(credits) as sum from ledger_entry where credits < 0')),
    filesLeft: filesLeft(options),
  }
}

function print(books: Books): string {
  return JSON.stringify(books)
}

function isOver({ openHolds, openCalls, filesLeft }: Books): boolean {
  return openHolds + openCalls === 0 && filesLeft <= SPARE_FILES
}

function judgeBooks(books: Books, { tally }: EveningOptions): Finding[] {
  const { openHolds, openCalls, held, heldCredits, heldCalls, byKeys, byUsers, byHours, calls, counted } = books
  const { credits, entries, charged, entered } = books
  const broken = counted - tally.complete
  const most = byHours + (BROKEN_OFF * broken * byHours) / tally.complete + BEYOND_NANO_USD * Math.sqrt(broken)
  const within = (least: number, number: number, most: number): boolean => least <= number && number <= most
  return [
    claim('files left open: more than before', books.filesLeft <= SPARE_FILES, [books.filesLeft]),
    claim('holds left open: of money, of calls', openHolds + openCalls === 0, [openHolds, openCalls]),
    claim('left held: nano-dollars, credits, calls', held + heldCredits + heldCalls === 0, [
      held,
      heldCredits,
      heldCalls,
    ]),
    claim('money by keys = by users', byKeys === byUsers && byKeys > 0, [byKeys, byUsers]),
    claim('money by receipts ≤ by caps', within(byHours, byKeys, most), [byHours, byKeys]),
    claim('credits of accounts = of the ledger', credits === entries && entries > 0, [credits, entries]),
    claim('credits charged by hours = entered', charged === entered, [charged, entered]),
    claim('complete ≤ calls ≤ sent', within(tally.complete, calls, tally.sent), [tally.complete, calls, tally.sent]),
    claim('complete ≤ recorded ≤ sent', within(tally.complete, counted, tally.sent), [
      tally.complete,
      counted,
      tally.sent,
    ]),
  ]
}

function judgeReplies({ tally, fixture, paidAnswers }: EveningOptions): Finding[] {
  const { statuses, lost } = tally
  const answered = Object.values(statuses).reduce((all, count) => all + count, 0)
  const unexplained = Object.keys(statuses).filter((status) => !EXPLAINED.has(status))
  const failed = answered - (statuses[200] ?? 0) + lost
  const isFine = answered > 0 && failed <= answered * MAY_FAIL + FEW && unexplained.length === 0
  const alarms = alarmsOf(fixture)
  const { heldCents, statuses: payments } = booksOf(fixture.stripe.world)
  const captured = payments.filter((status) => status === 'succeeded').length
  return [
    claim('paid answers = captured; cents held', paidAnswers === captured && heldCents === 0, [
      paidAnswers,
      captured,
      heldCents,
    ]),
    claim('failed of answered', isFine, [failed, answered, ...unexplained]),
    claim('alarms in the log', alarms.length === 0, [alarms.length, ...alarms.slice(0, 1)]),
  ]
}

function claim(name: string, isFine: boolean, found: readonly (string | number)[]): Finding {
  return { name, isFine, cells: [found.join(', ')] }
}

/** Files that the busiest process has open beyond those of its start, connections to the provider not counted. */
function filesLeft({ fixture, filesBefore }: EveningOptions): number {
  const more = openFiles(fixture).map((files, index) => files - (filesBefore[index] ?? 0))
  return Math.max(...more) - fixture.provider.connections()
}

const ALARM = /unhandled|uncaught|MaxListenersExceeded|"level":[56]0/i
/** Requests that failed are counted by their status. */
const REQUEST = /"msg":"request\./

function alarmsOf({ nodes }: Fixture): string[] {
  const lines = nodes.flatMap(({ gateway }) => gateway.log().split('\n'))
  return lines.filter((line) => ALARM.test(line) && !REQUEST.test(line)).map((line) => line.slice(0, 300))
}
