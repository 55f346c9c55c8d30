import type { Message } from '../../src/core/request/message.ts'
import type { Random } from './random.ts'
import { Session } from './session.ts'
import type { Act, World } from './world.ts'

/** The six kinds of loops. */
export const LOOP_KINDS = ['call', 'error', 'results', 'alternation', 'text', 'arguments'] as const

/** A session that ends in a loop. */
export interface LoopSession {
  readonly kind: (typeof LOOP_KINDS)[number]
  readonly messages: readonly Message[]
  /** Numbers of messages after which the step, or the round of alternating steps, has occurred once, twice and so on. */
  readonly rounds: readonly number[]
}

const ROUNDS = 6
const MOST_WORK = 8

/** Creates a session of ordinary work that becomes a loop. Some loops have one other step after their second round. */
export function createLoop(kind: LoopSession['kind'], random: Random, world: World): LoopSession {
  const session = new Session(random, world)
  const work = world.work(random)
  const before = random.int(0, MOST_WORK)
  for (let index = 0; index < before; index++) session.step(work(index))
  const round = roundsOf(kind, random, world, session)
  const isInterrupted = kind !== 'text' && random.chance(0.1)
  const rounds: number[] = []
  for (let index = 0; index < ROUNDS; index++) {
    round(index)
    rounds.push(session.messages.length)
    if (isInterrupted && index === 1) session.step(work(before))
  }
  return { kind, messages: session.messages, rounds }
}

function roundsOf(kind: LoopSession['kind'], random: Random, world: World, session: Session): (index: number) => void {
  const each = (act: (index: number) => Act) => (index: number) => session.step(act(index))
  if (kind === 'call') return callRounds(random, world, session)
  if (kind === 'error') return each(world.attempts(random))
  if (kind === 'results') return each(world.searches(random))
  if (kind === 'arguments') return each(world.numbered(random))
  if (kind === 'alternation') return alternation(random, world, session)
  const [text, answer] = random.pick(world.texts)
  return () => session.text(text, answer)
}

/** One call, two parallel ones, or a call that fails. */
function callRounds(random: Random, world: World, session: Session): (index: number) => void {
  const acts = [random.chance(0.3) ? world.attempts(random)(1) : world.observation(random)]
  if (random.chance(0.2)) acts.push({ ...world.work(random)(77) })
  return () => session.step(...acts)
}

function alternation(random: Random, world: World, session: Session): (index: number) => void {
  const count = random.int(2, 4)
  const failing = world.attempts(random)(1)
  const work = world.work(random)
  const states = Array.from({ length: count }, (_, index) => (index === 0 ? failing : work(900 + index)))
  return () => {
    for (const state of states) session.step(state)
  }
}
