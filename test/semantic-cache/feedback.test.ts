import { mkdtempSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import { eventually, stateOf } from '../support/cache-stage.ts'
import { send } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'
import { startSharedStage } from '../support/shared-cache-stage.ts'
import { startJudgeStage } from './judge-stage.ts'

const PIPE = 'semantic-cache'
const COMPARED_WITHIN_MS = 500

test('semantic-cache: feedback: `wrong` takes the answer out, for its own text too, and is said once', async (t) => {
  await using stage = await startJudgeStage()
  await stage.ask('How do I wash a rug?', { pipe: PIPE })
  const hit = await stage.ask('How can I wash a rug?', { pipe: PIPE })
  t.is(stateOf(hit), 'semantic')
  const verdict = { request: hit.headers['request-id'], verdict: 'wrong' }
  const said = await eventually(
    () => stage.feedback(verdict),
    ({ status }) => status === 200,
  )
  t.like(said.json, { verdict: 'wrong', evicted: true, entry: hit.headers['x-svc-cache-entry'] })
  t.is((await stage.feedback(verdict)).status, 200)
  t.is(stateOf(await stage.ask('How do I wash a rug?', { pipe: PIPE })), 'miss')
})

test('semantic-cache: feedback: only the owner of an answer can say anything of it', async (t) => {
  await using stage = await startJudgeStage()
  await stage.ask('How do I fix a clock?', { pipe: PIPE })
  const hit = await stage.ask('How can I fix a clock?', { pipe: PIPE })
  const request = hit.headers['request-id']
  await eventually(
    () => stage.feedback({ request, verdict: 'right' }),
    ({ status }) => status === 200,
  )
  t.is((await stage.feedback({ request, verdict: 'wrong' }, 'caller-2')).status, 404)
  t.is(stateOf(await stage.ask('How can I fix a clock?', { pipe: PIPE })), 'semantic')
  const unknown = 'req_00000000000000000000000000000000'
  t.is((await stage.feedback({ request: unknown, verdict: 'wrong' })).status, 404)
})

test('semantic-cache: feedback: a body that is not exactly that, another method, no credential', async (t) => {
  await using stage = await startJudgeStage()
  await stage.ask('How do I?', { pipe: PIPE })
  for (const body of [
    {},
    { request: 'x', verdict: 'wrong' },
    { request: 'req_1', verdict: 'no' },
    { request: 'req_1', verdict: 'right', more: 1 },
    [],
  ]) {
    t.is((await stage.feedback(body)).status, 400, JSON.stringify(body))
  }
  const { url } = stage.gateway
  const headers = { authorization: 'Bearer caller-1' }
  const get = await send(url, { method: 'GET', path: '/v1/cache/feedback', headers })
  t.is(get.status, 405)
  t.is(get.headers.allow, 'POST')
  const nobody = await send(url, { path: '/v1/cache/feedback', body: {}, headers: { authorization: '' } })
  t.is(nobody.status, 401)
})

test('semantic-cache: feedback: of an answer that was never given is 404, before anybody has asked too, and counts as a request', async (t) => {
  await using stage = await startSharedStage({ env: { SVC_RATE_LIMIT: '3' } })
  const body = { request: 'req_1', verdict: 'wrong' }
  const say = (as: string) =>
    send(stage.gateway.url, { path: '/v1/cache/feedback', body, headers: { authorization: `Bearer ${as}` } })
  const before = await say('a')
  t.is(before.status, 404)
  t.regex(before.text, /No answer from the cache was given to `req_1` of yours/)
  await stage.ask('How do I?', { pipe: PIPE, as: 'b' })
  const statuses = []
  for (let i = 0; i < 4; i++) statuses.push((await say('c')).status)
  t.deepEqual(statuses, [404, 404, 404, 429])
})

test('semantic-cache: shadow: tells how often it would have been right', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'turnpike-shadow-'))
  const stage = await startJudgeStage({}, folder)
  t.teardown(stage.close)
  const pipe = `${PIPE}?shadow=true`
  stage.judge(({ new_question }) => new_question.includes('sofa') === false)
  await stage.ask('How do I clean a lamp?', { pipe, answer: 'With a cloth.' })
  const same = await stage.ask('How can I clean a lamp?', { pipe, answer: 'With a cloth.' })
  t.is(stateOf(same), 'miss')
  await stage.ask('How do I clean a sofa?', { pipe, answer: 'With foam.' })
  await stage.ask('How can I clean a sofa?', { pipe, answer: 'Ask a cleaner.' })
  await eventually(
    async () => stage.gateway.log().split('shadow.compared').length,
    (parts) => parts === 3,
  )
  await stage.close()
  const report = JSON.parse(await readFile(path.join(folder, 'plugins/semantic-cache/reports/0.json'), 'utf8'))
  t.like(valueAt(report, 'shadows.0'), { mode: 'strict', requests: 4, wouldServe: 2, right: 1, wrong: 1, undecided: 0 })
})

test('semantic-cache: bound: gives nothing before it is proven, then does, audits, and knows it again after a restart', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'turnpike-bound-'))
  const pipe = `${PIPE}?mode=bound&delta=0.3`
  const pair = (i: number) =>
    [`How do I repair engine number${i}x of a boat?`, `How can I repair engine number${i}x of a boat?`] as const
  const first = await startJudgeStage({ audit: 0.02 }, folder)
  t.teardown(first.close)
  const states: unknown[] = []
  // Thirteen clean pairs prove 0.3.
  for (let i = 0; i < 13; i++) {
    await first.ask(pair(i)[0], { pipe, answer: `Part ${i}.` })
    states.push(stateOf(await first.ask(pair(i)[1], { pipe, answer: `Part ${i}.` })))
  }
  t.true(states.every((state) => state === 'miss'))
  // The last answer is compared behind its reply, and nothing tells when.
  await sleep(COMPARED_WITHIN_MS)
  await first.close()
  const evidence = await readFile(path.join(folder, 'plugins/semantic-cache/reports/0.json'), 'utf8')
  t.like(valueAt(JSON.parse(evidence), 'bounds.0'), {
    delta: 0.3,
    standing: 'open',
    judged: 13,
    needed: 13,
    right: 13,
    wrong: 0,
  })

  const second = await startJudgeStage({ audit: 0.02 }, folder)
  t.teardown(second.close)
  second.judge(() => false)
  const served: unknown[] = []
  for (let i = 20; i < 26; i++) {
    await second.ask(pair(i)[0], { pipe, answer: 'One.' })
    const reply = await second.ask(pair(i)[1], { pipe, answer: 'Another.' })
    served.push(stateOf(reply))
    if (stateOf(reply) !== 'semantic') continue
    const { headers } = reply
    await eventually(
      () => second.feedback({ request: headers['request-id'], verdict: 'wrong' }),
      ({ status }) => status === 200,
    )
  }
  t.true(served.includes('semantic'), 'it knew its evidence')
  t.is(served.at(-1), 'miss', 'and closed when that went bad')
})
