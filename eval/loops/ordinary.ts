import type { Message } from '../../src/core/request/message.ts'
import type { Random } from './random.ts'
import { Session } from './session.ts'
import type { Act, World } from './world.ts'

/** Ordinary work that resembles a loop. */
export const ORDINARY_KINDS = [
  'polls with progress',
  'polls without progress, eight times',
  'reads after edits',
  'runs with other results',
  'a retry after one transient error',
  'a status between other calls',
  'pages',
  'searches without a result',
  'guesses of paths',
  'confirmed changes',
  'failing tests between edits',
  'talk with a person',
] as const

/** A session of ordinary work. */
export interface OrdinarySession {
  readonly kind: (typeof ORDINARY_KINDS)[number]
  readonly messages: readonly Message[]
}

type Write = (session: Session, random: Random, world: World) => void

const range = (count: number) => Array.from({ length: count }, (_, index) => index)
const each = (session: Session, count: number, act: (index: number) => Act) => {
  for (const index of range(count)) session.step(act(index))
}

const WRITERS: Readonly<Record<OrdinarySession['kind'], Write>> = {
  'polls with progress': (session, random, world) => each(session, random.int(4, 12), world.poll(random)),
  'polls without progress, eight times': (session, random) => {
    const result = random.pick([
      '{"status":"in_progress"}',
      'status: running',
      'queued, position 1',
      'Job is still pending.',
    ])
    each(session, 8, () => ({ name: 'check_job', input: { job: 77 }, result }))
  },
  'reads after edits': (session, random, world) => {
    const read = world.observation(random)
    const change = world.work(random)
    for (const index of range(5)) {
      session.step({
        ...read,
        result: `${read.result}\nline ${index} of ${random.pick(world.remarks)} ${random.int(1, 1e6)}`,
      })
      session.step(change(index))
    }
  },
  'runs with other results': (session, random, world) => each(session, 6, world.runs(random)),
  'a retry after one transient error': (session, random, world) => {
    const good = world.observation(random)
    const failed = world.attempts(random)(1)
    const work = world.work(random)
    for (const index of range(4)) {
      session.step({ ...good, result: failed.result, isError: failed.isError === true })
      if (random.chance(0.5)) session.step({ ...good, result: failed.result, isError: failed.isError === true })
      session.step({ ...good, input: { ...good.input, at: index }, result: `${good.result} ${index}` })
      session.step(work(index))
    }
  },
  'a status between other calls': (session, random, world) => {
    const status = world.status(random)
    const work = world.work(random)
    for (const index of range(6)) {
      session.step(status)
      for (const more of range(random.int(1, 3))) session.step(work(index * 3 + more))
    }
  },
  pages: (session, random, world) => each(session, random.int(4, 9), world.pages(random)),
  'searches without a result': (session, random, world) => {
    each(session, random.int(3, 5), world.misses(random))
    each(session, 2, world.work(random))
  },
  'guesses of paths': (session, random) =>
    each(session, random.int(3, 5), (index) => ({
      name: 'Read',
      input: { file_path: `/srv/app/${random.pick(['src', 'lib', 'config', 'etc'])}/settings-${index}.json` },
      result: random.pick(['<tool_use_error>File does not exist.</tool_use_error>', 'Error: no such file']),
      isError: true,
    })),
  'confirmed changes': (session, random, world) => each(session, random.int(5, 12), world.changes(random)),
  'failing tests between edits': (session, random, world) => {
    const failing = world.attempts(random)(1)
    const work = world.work(random)
    for (const index of range(random.int(3, 5))) {
      for (const more of range(random.int(1, 2))) session.step(work(index * 2 + more))
      session.step(failing)
    }
  },
  'talk with a person': (session, random, world) => {
    const [answer] = random.pick(world.texts)
    for (const index of range(5))
      session.text(answer, `${random.pick(['And', 'But', 'Please', 'No,'])} number ${index}?`)
  },
}

/** Creates a session of this kind, with ordinary work before and after. */
export function createOrdinary(kind: OrdinarySession['kind'], random: Random, world: World): OrdinarySession {
  const session = new Session(random, world)
  each(session, random.int(0, 5), world.work(random))
  WRITERS[kind](session, random, world)
  each(session, random.int(0, 3), world.work(random))
  return { kind, messages: session.messages }
}
