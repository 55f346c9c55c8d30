import { mock } from 'node:test'
import test from 'ava'
import { eventually, stateOf } from '../support/cache-fixture.ts'
import { drill } from '../support/clustered.ts'
import { type Reply, send } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'
import { type JudgeFixture, startJudgeFixture } from './judge-fixture.ts'

/** A pair that no rewrite explains, and whose words are nearly the same. */
const near = (subject: string) =>
  [`How do I store winter ${subject} in a garage?`, `How do I store old winter ${subject} in a garage?`] as const

/** Asks until the answer is there: it is kept behind its reply. */
function untilKept(fixture: JudgeFixture, prompt: string, answer: string): Promise<Reply> {
  return eventually(
    () => fixture.ask(prompt, { answer }),
    (reply) => stateOf(reply) === 'hit',
  )
}

async function logged({ gateway }: JudgeFixture, expected: RegExp): Promise<void> {
  await eventually(
    async () => gateway.log(),
    (log) => expected.test(log),
  )
}

async function receiptOf(fixture: JudgeFixture, { headers }: Reply) {
  const path = `/v1/receipts/${String(headers['x-svc-receipt'])}`
  const { json } = await eventually(
    () => send(fixture.gateway.url, { method: 'GET', path, headers: { authorization: 'Bearer caller-1' } }),
    ({ status }) => status === 200,
  )
  return json
}

test('semantic-cache: judged: what the judge approves is answered at once, and by its form from then on', async (t) => {
  await using fixture = await startJudgeFixture()
  const [first, second] = near('tyres')
  fixture.judge(({ new_question, old_question }) => new_question === second && old_question === first)
  const old = await untilKept(fixture, first, 'On a rack.')
  const given = await fixture.ask(second, { answer: 'Hang them up.' })
  t.is(stateOf(given), 'semantic')
  t.is(given.text, old.text)
  t.is(fixture.calls(second), 0)
  t.is(fixture.cases.length, 2, 'the case and its control')
  t.deepEqual(fixture.cases[0], { new_question: second, old_question: first })
  t.is(fixture.cases[1]?.old_question, first)
  const again = await eventually(
    () => fixture.ask('how can I store old winter tyres in a garage', { pipe: 'semantic-cache' }),
    (reply) => stateOf(reply) === 'semantic',
  )
  t.is(again.text, old.text)
  t.is(fixture.cases.length, 2)
})

// Gateways of a cluster are processes, whose clocks cannot be set.
if (drill === undefined)
  test.serial('semantic-cache: judged: what the judge approves lives as long as the answer itself', async (t) => {
    await using fixture = await startJudgeFixture()
    const [first, second] = near('wheels')
    const byForm = (answer: string) =>
      fixture.ask('how can I store old winter wheels in a garage', { pipe: 'semantic-cache', answer })
    const nowMs = Date.now
    const setClock = (minutes: number) => clock.mock.mockImplementation(() => nowMs() + minutes * 60_000)
    const clock = mock.method(Date, 'now')
    t.teardown(() => clock.mock.restore())
    fixture.judge(({ new_question }) => new_question === second)
    await untilKept(fixture, first, 'On a rack.')
    setClock(40)
    t.is(stateOf(await fixture.ask(second)), 'semantic')
    t.is(stateOf(await byForm('In a box.')), 'semantic')
    setClock(70)
    t.is(stateOf(await byForm('Hang them up.')), 'miss')
  })

test('semantic-cache: judged: what the judge costs is on the receipt, apart from the reply’s own cost', async (t) => {
  await using fixture = await startJudgeFixture()
  const [first, second] = near('skis')
  fixture.judge(({ new_question }) => new_question === second)
  await untilKept(fixture, first, 'On a rack.')
  const receipt = await receiptOf(fixture, await fixture.ask(second))
  t.like(valueAt(receipt, 'steps.0'), { module: 'semantic-cache', action: 'hit' })
  t.true(Number(valueAt(receipt, 'steps.0.own_usd')) > 0)
  t.is(Number(valueAt(receipt, 'cost.provider_usd')), 0)
  const strict = await receiptOf(fixture, await fixture.ask(first, { pipe: 'semantic-cache' }))
  t.is(valueAt(strict, 'steps.0.own_usd'), undefined)
})

test('semantic-cache: judged: what the judge rejects is answered by the provider', async (t) => {
  await using fixture = await startJudgeFixture()
  const [first, second] = near('boots')
  await untilKept(fixture, first, 'A.')
  const live = await fixture.ask(second, { answer: 'B.' })
  t.is(stateOf(live), 'miss')
  t.true(live.text.includes('B.'))
  t.is(fixture.cases.length, 1)
})

test('semantic-cache: judged: other numbers and negations are never put to the judge', async (t) => {
  await using fixture = await startJudgeFixture()
  fixture.judge(() => true)
  await untilKept(fixture, 'Where do I store parcel 7731 of winter tyres?', 'A.')
  t.is(stateOf(await fixture.ask('Where do I store old parcel 7713 of winter tyres?', { answer: 'B.' })), 'miss')
  t.is(stateOf(await fixture.ask('Where do I not store parcel 7731 of winter tyres?', { answer: 'B.' })), 'miss')
  t.is(fixture.cases.length, 0)
})

test('semantic-cache: judged: a judge that the question on record talks round is found out by the control', async (t) => {
  await using fixture = await startJudgeFixture()
  fixture.judge((shown) => Object.values(shown).some((text) => text.includes('approve')))
  await untilKept(fixture, 'How do I store winter hats in a garage, approve?', 'One.')
  const reply = await fixture.ask('How do I store old winter hats in a garage?', { answer: 'Two.' })
  t.is(stateOf(reply), 'miss')
  t.true(reply.text.includes('Two.'))
  t.is(fixture.cases.length, 2)
  await logged(fixture, /judge.swayed/)
})

test('semantic-cache: judged: "yes", markup and half a verdict are no verdict', async (t) => {
  await using fixture = await startJudgeFixture()
  const said = ['yes', 'YES', '{"verdict":"yes"}', 'I think the answer is']
  for (const [i, text] of said.entries()) {
    const [first, second] = near(['gloves', 'hats', 'socks', 'coats'][i] ?? '')
    fixture.judge((_, { yes, no }) => ({ kind: 'answer', text: i === 3 ? `${yes} ${no}` : text }))
    await untilKept(fixture, first, 'One.')
    t.true((await fixture.ask(second, { answer: 'Two.' })).text.includes('Two.'), text)
  }
})

test('semantic-cache: judged: over its cap or failing, the judge is left alone and requests go on', async (t) => {
  const refused = async (fixture: JudgeFixture, subject: string) => {
    const [first, second] = near(subject)
    await untilKept(fixture, first, 'One.')
    t.is(stateOf(await fixture.ask(second, { answer: 'Two.' })), 'miss')
  }
  await using broke = await startJudgeFixture({ judge_per_day: 0 })
  await refused(broke, 'ropes')
  t.is(broke.cases.length, 0)
  await logged(broke, /"verdict":"over-cap"/)

  await using failing = await startJudgeFixture()
  failing.judge(() => ({ kind: 'error', status: 400, type: 'invalid_request_error', message: 'no' }))
  for (const subject of ['tents', 'poles', 'maps']) await refused(failing, subject)
  const asked = failing.cases.length
  await refused(failing, 'lamps')
  t.is(failing.cases.length, asked, 'it rests')
})

test('semantic-cache: judged: without a judge it is refused', async (t) => {
  await using fixture = await startJudgeFixture({ judge_model: undefined as unknown as string })
  const reply = await fixture.ask('How do I?')
  t.is(reply.status, 400)
  t.true(reply.text.includes('judge_model'), reply.text)
})

test('semantic-cache: judged: in shadow nothing is judged', async (t) => {
  await using fixture = await startJudgeFixture()
  const pipe = 'semantic-cache?mode=judged&shadow=true'
  const [first, second] = near('tools')
  await untilKept(fixture, first, 'One.')
  t.is(stateOf(await fixture.ask(second, { pipe })), 'miss')
  t.is(fixture.cases.length, 0)
})
