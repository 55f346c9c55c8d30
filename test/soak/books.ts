import { setTimeout as sleep } from 'node:timers/promises'
import { countOpenFiles } from '../support/process-facts.ts'
import type { Databases } from './database.ts'
import type { Stage } from './stage.ts'
import type { Tally } from './tally.ts'
import type { Finding } from './verdict.ts'

/** Files open at the start of the day, by process. */
export function filesAtStart({ nodes }: Stage): number[] {
  return nodes.map(({ gateway }) => countOpenFiles(gateway.pid))
}

/** What is asked when the traffic has ended. */
export interface EveningOptions {
  readonly stage: Stage
  readonly databases: Databases
  readonly tally: Tally
  readonly filesBefore: readonly number[]
}

/** What a process may open once and keep: connections to databases, a lazily loaded module, sockets to the provider. */
const SPARE_FILES = 40
const LONGEST_WAIT_MS = 45_000
const POLL_MS = 500
/** Statuses that the provider's moods, or a machine that is too slow, explain. */
const EXPLAINED = new Set(['200', '400', '429', '500', '502', '503', '529'])
/** Requests that may fail: the provider's moods are some three in a hundred. */
const MAY_FAIL = 0.1

/** Waits until nothing runs any more, at most 45 seconds, and looks through the books. */
export async function endDay(options: EveningOptions): Promise<Finding[]> {
  const { databases, tally } = options
  const sum = async (text: string, where?: 'telemetry'): Promise<number> =>
    Number((await databases.sql(text, where))[0]?.sum ?? 0)
  const openHolds = () => sum(`select count(*) as sum from spend_hold where state = 'open'`)
  const openCalls = () => sum(`select count(*) as sum from credit_hold where state = 'open'`)
  const isOver = async () => (await openHolds()) + (await openCalls()) === 0 && filesLeft(options) <= SPARE_FILES
  const deadlineMs = performance.now() + LONGEST_WAIT_MS
  while (!(await isOver()) && performance.now() < deadlineMs) await sleep(POLL_MS)

  const days = await sum(`select sum(settled_nano_usd) as sum from spend_window where window_id like 'd:%'`)
  const hours = await sum('select sum(cost_nano_usd) as sum from usage_hour', 'telemetry')
  const held = await sum('select sum(held_nano_usd) as sum from spend_window')
  const heldCredits = await sum('select sum(held_credits) as sum from account')
  const calls = await sum('select sum(settled_calls) as sum from call_window')
  const credits = await sum('select sum(posted_credits) as sum from account')
  const entries = await sum('select sum(credits) as sum from ledger_entry')
  const answered = Object.values(tally.statuses).reduce((all, count) => all + count, 0)
  const unexplained = Object.keys(tally.statuses).filter((status) => !EXPLAINED.has(status))
  const failed = answered - (tally.statuses[200] ?? 0) + tally.lost
  return [
    claim('files open after the day, more than before', filesLeft(options) <= SPARE_FILES, [filesLeft(options)]),
    claim(
      'holds of money and of calls left open',
      (await isOver()) || (await openHolds()) + (await openCalls()) === 0,
      [await openHolds(), await openCalls()],
    ),
    claim('money and credits still held', held === 0 && heldCredits === 0, [held, heldCredits]),
    claim('money settled by days = by hours, in nano-dollars', days === hours && days > 0, [days, hours]),
    claim('credits of accounts = sum of the ledger', credits === entries && entries > 0, [credits, entries]),
    claim('calls counted: complete ≤ counted ≤ sent', tally.complete <= calls && calls <= tally.sent, [
      tally.complete,
      calls,
      tally.sent,
    ]),
    claim('requests that failed, of all', failed <= answered * MAY_FAIL && unexplained.length === 0, [
      failed,
      answered,
      ...unexplained,
    ]),
    claim('alarms in the log', alarms(options.stage).length === 0, alarms(options.stage).slice(0, 3)),
  ]
}

function claim(name: string, isFine: boolean, found: readonly (string | number)[]): Finding {
  return { name, isFine, cells: [found.join(', '), '', '', ''] }
}

/** Files that the busiest process has open beyond those of its start. */
function filesLeft({ stage, filesBefore }: EveningOptions): number {
  return Math.max(...filesAtStart(stage).map((files, index) => files - (filesBefore[index] ?? 0)))
}

const ALARM = /unhandled|uncaught|MaxListenersExceeded|retention\.failed|"level":"(error|fatal)"/i

function alarms({ nodes }: Stage): string[] {
  const lines = nodes.flatMap(({ gateway }) => gateway.log().split('\n'))
  return lines.filter((line) => ALARM.test(line)).map((line) => line.slice(0, 300))
}
