import { mkdtempSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { neededPairs } from '../../plugins/semantic-cache/bound/calibrate.ts'
import { eventually, stateOf, untilCacheOpen } from '../support/cache-stage.ts'
import { valueAt } from '../support/json.ts'
import { createRedis, isRedisExpected } from '../support/redis.ts'
import { vectorServerOfFile } from '../support/vector-database.ts'
import { type JudgeStage, startJudgeStage } from './judge-stage.ts'

const PIPE = 'semantic-cache'
const BOUND = `${PIPE}?mode=bound&delta=0.3`
/** Clean pairs that prove a delta of 0.3. */
const NEEDED = neededPairs(0.3)
const MOST_PROBES = 60
const vectorServer = vectorServerOfFile(test)

function dataFolder(t: ExecutionContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'turnpike-instances-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Starts one more gateway that shares the entries of the others. */
type StartInstance = (options?: { audit: number }) => Promise<JudgeStage>

/** Gateways of one machine share their data folder, those of several an engine. */
const PLACES: Readonly<Record<string, (t: ExecutionContext) => Promise<StartInstance>>> = {
  local: async (t) => {
    const folder = dataFolder(t)
    return instances(t, () => folder, {})
  },
  ...(isRedisExpected && {
    redis: async (t: ExecutionContext) => instances(t, () => dataFolder(t), { REDIS_URL: (await createRedis(t)).url }),
  }),
  postgres: async (t) => {
    const url = await (await vectorServer()).createDatabase(t)
    return instances(t, () => dataFolder(t), { DATABASE_URL: url })
  },
}

function instances(t: ExecutionContext, folder: () => string, env: Readonly<Record<string, string>>): StartInstance {
  return async (options) => {
    const stage = await startJudgeStage({ persist: true, ...options }, folder(), env)
    t.teardown(stage.close)
    return stage
  }
}

async function startTwo(start: StartInstance): Promise<[JudgeStage, JudgeStage]> {
  const both = await Promise.all([start(), start()])
  await Promise.all(both.map(({ ask }) => untilCacheOpen(ask)))
  return both
}

function untilState(stage: JudgeStage, prompt: string, state: string) {
  return eventually(
    () => stage.ask(prompt, { pipe: PIPE }),
    (reply) => stateOf(reply) === state,
  )
}

let probes = 0
/**
 * Waits until a gateway knows what another has written: what one gateway writes, others read in its order, so they know all
 * of it once they serve a question that it was asked last. A question that comes too early is asked and stored by the
 * other itself and shows nothing, so each try has a new one.
 */
async function untilKnown(writer: JudgeStage, reader: JudgeStage): Promise<void> {
  for (let tried = 0; tried < MOST_PROBES; tried++) {
    const probe = `Is item ${++probes} of the list in stock?`
    await untilState(writer, probe, 'hit')
    if (stateOf(await reader.ask(probe, { pipe: PIPE })) === 'hit') return
  }
  throw new Error(`After ${MOST_PROBES} questions the other gateway knows none of them.`)
}

for (const [name, createPlace] of Object.entries(PLACES)) {
  test.serial(`${name}: a verdict that one gateway is told of another's answer takes effect in all`, async (t) => {
    const start = await createPlace(t)
    const [one, other] = await startTwo(start)
    await untilState(one, 'How do I wash a rug?', 'hit')
    await untilKnown(one, other)
    const given = await other.ask('How can I wash a rug?', { pipe: PIPE })
    t.is(stateOf(given), 'semantic')
    t.is(other.calls('How do I wash a rug?'), 0)
    const verdict = { request: given.headers['request-id'], verdict: 'wrong' }
    t.is((await one.feedback(verdict, 'caller-2')).status, 404, 'of others')
    const said = await eventually(
      () => one.feedback(verdict),
      ({ status }) => status === 200,
    )
    t.like(said.json, { evicted: true, entry: given.headers['x-svc-cache-entry'] })
    await untilState(other, 'How can I wash a rug?', 'miss')
    t.not(
      (await one.ask('How do I wash a rug?', { pipe: PIPE })).headers['x-svc-cache-entry'],
      given.headers['x-svc-cache-entry'],
    )
    const third = await start()
    await eventually(
      () => third.feedback(verdict),
      ({ status }) => status === 200,
    )
    const later = await eventually(
      () => third.ask('How can I wash a rug?', { pipe: PIPE }),
      ({ headers }) => headers['x-svc-cache'] !== 'miss',
    )
    t.not(later.headers['x-svc-cache-entry'], given.headers['x-svc-cache-entry'])
  })

  test.serial(`${name}: what a judge has approved for one gateway is another way to ask for all`, async (t) => {
    const start = await createPlace(t)
    const [one, other] = await startTwo(start)
    const [first, second] = ['How do I store winter tyres in a garage?', 'How do I store old winter tyres in a garage?']
    const judged = `${PIPE}?mode=judged`
    one.judge(({ new_question, old_question }) => new_question === second && old_question === first)
    const old = await eventually(
      () => one.ask(first, { pipe: judged, answer: 'On a rack.' }),
      (reply) => stateOf(reply) === 'hit',
    )
    await one.ask(second, { pipe: judged, answer: 'Hang them up.' })
    await eventually(
      () => one.ask(second, { pipe: judged }),
      ({ text }) => text === old.text,
    )
    await untilKnown(one, other)
    const found = await other.ask(second, { pipe: judged })
    t.is(stateOf(found), 'hit')
    t.is(found.text, old.text)
  })
}

const pair = (i: number) =>
  [`How do I repair engine number${i}x of a boat?`, `How can I repair engine number${i}x of a boat?`] as const

/** Asks a pair with one answer: evidence, once it has been compared. */
async function prove(stage: JudgeStage, i: number): Promise<void> {
  await eventually(
    () => stage.ask(pair(i)[0], { pipe: BOUND, answer: `Part ${i}.` }),
    (reply) => stateOf(reply) === 'hit',
  )
  await stage.ask(pair(i)[1], { pipe: BOUND, answer: `Part ${i}.` })
}

test.serial(
  'local: bound: gateways of one machine gather their evidence together; one that starts later knows all of it',
  async (t) => {
    const folder = dataFolder(t)
    const start = instances(t, () => folder, {})
    const [one, other] = await Promise.all([start({ audit: 0.02 }), start({ audit: 0.02 })])
    for (let i = 0; i < NEEDED; i++) await prove(i % 2 === 0 ? one : other, i)
    await Promise.all([one.close(), other.close()])
    const third = await start({ audit: 0.02 })
    const states: unknown[] = []
    for (let i = 20; i < 26; i++) {
      await third.ask(pair(i)[0], { pipe: BOUND, answer: 'One.' })
      states.push(stateOf(await third.ask(pair(i)[1], { pipe: BOUND, answer: 'One.' })))
    }
    t.true(states.includes('semantic'), JSON.stringify(states))
  },
)

if (isRedisExpected) {
  test.serial(
    'redis: bound: each machine proves its own; until then it gives nothing, whatever others have proven',
    async (t) => {
      const redis = await createRedis(t)
      const folders = [dataFolder(t), dataFolder(t)]
      const start = instances(t, () => folders.shift() ?? '', { REDIS_URL: redis.url })
      const [one, other] = [await start({ audit: 0.02 }), await start({ audit: 0.02 })]
      for (let i = 0; i < NEEDED; i++) await prove(one, i)
      const given: unknown[] = []
      for (let i = 20; i < 80 && !given.includes('semantic'); i++) {
        await one.ask(pair(i)[0], { pipe: BOUND, answer: 'One.' })
        const [here, there] = [
          await one.ask(pair(i)[1], { pipe: BOUND, answer: 'One.' }),
          await other.ask(pair(i)[1].replace('can', 'do'), { pipe: BOUND, answer: 'One.' }),
        ]
        given.push(stateOf(here))
        t.not(stateOf(there), 'semantic')
      }
      t.true(given.includes('semantic'), JSON.stringify(given))
    },
  )
}

test.serial('postgres: bound: a verdict is evidence for the gateway that is told', async (t) => {
  const url = await (await vectorServer()).createDatabase(t)
  const folders = [dataFolder(t), dataFolder(t)]
  const [first = '', second = ''] = folders
  const start = instances(t, () => folders.shift() ?? '', { DATABASE_URL: url })
  const one = await start({ audit: 0.02 })
  for (let i = 0; i < NEEDED; i++) await prove(one, i)
  let given: Awaited<ReturnType<JudgeStage['ask']>> | undefined
  for (let i = 20; i < 80 && stateOf(given ?? { headers: {} }) !== 'semantic'; i++) {
    await one.ask(pair(i)[0], { pipe: BOUND, answer: 'One.' })
    given = await one.ask(pair(i)[1], { pipe: BOUND, answer: 'One.' })
  }
  t.is(stateOf(given ?? { headers: {} }), 'semantic')
  const other = await start({ audit: 0.02 })
  await untilState(other, 'How do I wash a rug?', 'hit')
  const verdict = { request: given?.headers['request-id'], verdict: 'wrong' }
  await eventually(
    () => other.feedback(verdict),
    ({ status }) => status === 200,
  )
  await Promise.all([one.close(), other.close()])
  const wrongIn = async (folder: string) => {
    const report = await readFile(path.join(folder, 'plugins/semantic-cache/reports/0.json'), 'utf8')
    return valueAt(JSON.parse(report), 'bounds.0.wrong')
  }
  t.is(await wrongIn(second), 1)
  t.is(await wrongIn(first), 0)
})
