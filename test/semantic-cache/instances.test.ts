import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { eventually, stateOf, untilCacheOpen } from '../support/cache-fixture.ts'
import { createRedisDatabase, isRedisExpected } from '../support/redis.ts'
import { type JudgeFixture, startJudgeFixture } from './judge-fixture.ts'
import { untilKnown } from './until-known.ts'

const PIPE = 'semantic-cache'
const JUDGED_WITHIN_MS = 8000
const FIRST = 'How do I store winter tyres in a garage?'
const WORDINGS = ['old', 'used', 'worn', 'spare'].map((word) => `How do I store ${word} winter tyres in a garage?`)

function dataFolder(t: ExecutionContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'turnpike-instances-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Starts one more gateway that shares the entries of the others. */
type StartInstance = (options?: { audit: number }) => Promise<JudgeFixture>

/** Gateways of one machine share their data folder, those of several an engine. */
const PLACES: Readonly<Record<string, (t: ExecutionContext) => Promise<StartInstance>>> = {
  local: async (t) => {
    const folder = dataFolder(t)
    return instances(t, () => folder, {})
  },
  ...(isRedisExpected && {
    redis: async (t: ExecutionContext) => instances(t, () => dataFolder(t), { REDIS_URL: await createRedisDatabase() }),
  }),
}

function instances(t: ExecutionContext, folder: () => string, env: Readonly<Record<string, string>>): StartInstance {
  return async (options) => {
    const fixture = await startJudgeFixture({ persist: true, ...options }, folder(), env)
    t.teardown(fixture.close)
    return fixture
  }
}

async function startTwo(start: StartInstance): Promise<[JudgeFixture, JudgeFixture]> {
  const both = await Promise.all([start(), start()])
  await Promise.all(both.map(({ ask }) => untilCacheOpen(ask)))
  return both
}

/**
 * Asks in other words until the judge was shown one of them, and returns it: on a busy machine a look-up may be late, and then
 * the question is asked as a new one.
 */
async function untilJudged({ cases }: JudgeFixture, ask: (question: string) => Promise<unknown>): Promise<string> {
  for (const question of WORDINGS) {
    await ask(question)
    const isShown = () => cases.some(({ new_question }) => new_question === question)
    if (await eventually(async () => isShown(), Boolean, JUDGED_WITHIN_MS).catch(() => false)) return question
  }
  throw new Error('Expected the judge to be shown a question')
}

function untilState(fixture: JudgeFixture, prompt: string, state: string) {
  return eventually(
    () => fixture.ask(prompt, { pipe: PIPE }),
    (reply) => stateOf(reply) === state,
  )
}

for (const [name, createPlace] of Object.entries(PLACES)) {
  test.serial(`${name}: a verdict that one gateway receives about another's answer takes effect in all`, async (t) => {
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
    const third = await start()
    await eventually(
      () => third.feedback(verdict),
      ({ status }) => status === 200,
    )
    const later = await third.ask('How can I wash a rug?', { pipe: PIPE })
    t.is(stateOf(later), 'hit', 'said again, it takes out nothing new')
  })

  test.serial(`${name}: what a judge has approved for one gateway is another way to ask for all`, async (t) => {
    const start = await createPlace(t)
    const [one, other] = await startTwo(start)
    const judged = `${PIPE}?mode=judged`
    one.judge(({ new_question, old_question }) => WORDINGS.includes(new_question) && old_question === FIRST)
    const old = await eventually(
      () => one.ask(FIRST, { pipe: judged, answer: 'On a rack.' }),
      (reply) => stateOf(reply) === 'hit',
    )
    const ask = (question: string) => one.ask(question, { pipe: judged, answer: 'Hang them up.' })
    const second = await untilJudged(one, ask)
    await eventually(
      () => one.ask(second, { pipe: judged }),
      ({ text }) => text === old.text,
    )
    await untilKnown(one, other)
    const found = await other.ask(second, { pipe: judged })
    t.is(stateOf(found), 'semantic')
    t.is(found.text, old.text)
  })
}
