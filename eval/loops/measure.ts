import { findLoop, type Loop } from '../../plugins/loop-guard/find-loop.ts'
import type { Message } from '../../src/core/request/message.ts'
import { RequestDocument } from '../../src/core/request/request.ts'
import { createLoop, LOOP_KINDS, type LoopSession } from './loops.ts'
import { createOrdinary, ORDINARY_KINDS, type OrdinarySession } from './ordinary.ts'
import { createRandom } from './random.ts'
import type { World } from './world.ts'
import { browser } from './worlds/browser.ts'
import { cluster } from './worlds/cluster.ts'
import { coding } from './worlds/coding.ts'
import { desk } from './worlds/desk.ts'
import { notebook } from './worlds/notebook.ts'
import { terminal } from './worlds/terminal.ts'

/** Seeds and agents of a part. The thresholds were chosen on `tuned`; `held out` has other agents and languages. */
export interface Part {
  readonly name: 'tuned' | 'held out'
  readonly firstSeed: number
  readonly worlds: readonly World[]
}

export const PARTS: readonly Part[] = [
  { name: 'tuned', firstSeed: 1, worlds: [coding, terminal, desk] },
  { name: 'held out', firstSeed: 100_001, worlds: [browser, cluster, notebook] },
]

/** The default of the option `after`. */
const AFTER = 3

/** Finds of one kind of generated loops. */
export interface LoopFigures {
  readonly kind: LoopSession['kind']
  readonly sessions: number
  /** Found when the step has occurred three times, and when it has been repeated three times. */
  readonly atThird: number
  readonly byThirdRepetition: number
  /** Reported before the loop began its second round. */
  readonly early: number
  readonly missed: readonly string[]
}

/** False alarms in one kind of ordinary sessions. */
export interface OrdinaryFigures {
  readonly kind: OrdinarySession['kind']
  readonly sessions: number
  readonly turns: number
  readonly alarms: readonly string[]
}

/** Returns the loop that a request with these messages is found to end with. */
function loopIn(messages: readonly Message[]): Loop | undefined {
  const body = JSON.stringify({ model: 'm', max_tokens: 1, messages })
  return findLoop(new RequestDocument(Buffer.from(body)), AFTER)
}

/** Returns the turns at which a session is found to repeat itself: each request that the agent would send. */
export function alarmsIn(messages: readonly Message[]): { turn: number; loop: Loop }[] {
  return turnsOf(messages).flatMap((turn) => {
    const loop = loopIn(messages.slice(0, turn))
    return loop === undefined ? [] : [{ turn, loop }]
  })
}

/** Returns the numbers of messages of a session's requests. */
export function turnsOf(messages: readonly Message[]): number[] {
  return messages.flatMap(({ role }, index) => (role === 'user' ? [index + 1] : []))
}

/** Measures `count` loops of a part, spread over the kinds. */
export function measureLoops({ firstSeed, worlds }: Part, count: number): LoopFigures[] {
  const results = range(count).map((index) => {
    const random = createRandom(firstSeed + index)
    const kind = LOOP_KINDS[index % LOOP_KINDS.length] ?? 'call'
    const world = random.pick(worlds)
    const { messages, rounds } = createLoop(kind, random, world)
    const isFound = (round: number) => loopIn(messages.slice(0, rounds[round])) !== undefined
    const before = alarmsIn(messages.slice(0, rounds[0])).length > 0
    return { kind, id: `${firstSeed + index} ${world.name}`, before, third: isFound(2), fourth: isFound(3) }
  })
  return LOOP_KINDS.map((kind) => {
    const own = results.filter((result) => result.kind === kind)
    return {
      kind,
      sessions: own.length,
      atThird: own.filter(({ third }) => third).length,
      byThirdRepetition: own.filter(({ third, fourth }) => third || fourth).length,
      early: own.filter(({ before }) => before).length,
      missed: own.filter(({ third, fourth }) => !third && !fourth).map(({ id }) => id),
    }
  })
}

/** Measures `count` ordinary sessions of a part at each of their turns, spread over the kinds. */
export function measureOrdinary({ firstSeed, worlds }: Part, count: number): OrdinaryFigures[] {
  const results = range(count).map((index) => {
    const random = createRandom(firstSeed + 50_000 + index)
    const kind = ORDINARY_KINDS[index % ORDINARY_KINDS.length] ?? 'pages'
    const world = random.pick(worlds)
    const { messages } = createOrdinary(kind, random, world)
    const [alarm] = alarmsIn(messages)
    const text = alarm && `${firstSeed + 50_000 + index} ${world.name}, turn ${alarm.turn}: ${alarm.loop.kind}`
    return { kind, turns: turnsOf(messages).length, alarm: text }
  })
  return ORDINARY_KINDS.map((kind) => {
    const own = results.filter((result) => result.kind === kind)
    const alarms = own.flatMap(({ alarm }) => (alarm === undefined ? [] : [alarm]))
    return { kind, sessions: own.length, turns: own.reduce((sum, { turns }) => sum + turns, 0), alarms }
  })
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index)
}
