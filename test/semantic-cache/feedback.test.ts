import test from 'ava'
import { eventually, stateOf } from '../support/cache-fixture.ts'
import { send } from '../support/http-client.ts'
import { startSharedFixture } from '../support/shared-cache-fixture.ts'
import { startJudgeFixture } from './judge-fixture.ts'

const PIPE = 'semantic-cache'

test('semantic-cache: feedback: `wrong` takes the answer out, for its own text too, and is said once', async (t) => {
  await using fixture = await startJudgeFixture()
  await fixture.ask('How do I wash a rug?', { pipe: PIPE })
  const hit = await fixture.ask('How can I wash a rug?', { pipe: PIPE })
  t.is(stateOf(hit), 'semantic')
  const verdict = { request: hit.headers['request-id'], verdict: 'wrong' }
  const said = await eventually(
    () => fixture.feedback(verdict),
    ({ status }) => status === 200,
  )
  t.like(said.json, { verdict: 'wrong', evicted: true, entry: hit.headers['x-svc-cache-entry'] })
  t.is((await fixture.feedback(verdict)).status, 200)
  t.is(stateOf(await fixture.ask('How do I wash a rug?', { pipe: PIPE })), 'miss')
})

test('semantic-cache: feedback: only the owner of an answer can say anything of it', async (t) => {
  await using fixture = await startJudgeFixture()
  await fixture.ask('How do I fix a clock?', { pipe: PIPE })
  const hit = await fixture.ask('How can I fix a clock?', { pipe: PIPE })
  const request = hit.headers['request-id']
  await eventually(
    () => fixture.feedback({ request, verdict: 'right' }),
    ({ status }) => status === 200,
  )
  t.is((await fixture.feedback({ request, verdict: 'wrong' }, 'caller-2')).status, 404)
  t.is(stateOf(await fixture.ask('How can I fix a clock?', { pipe: PIPE })), 'semantic')
  const unknown = 'req_00000000000000000000000000000000'
  t.is((await fixture.feedback({ request: unknown, verdict: 'wrong' })).status, 404)
})

test('semantic-cache: feedback: a body that is not exactly that, another method, no credential', async (t) => {
  await using fixture = await startJudgeFixture()
  await fixture.ask('How do I?', { pipe: PIPE })
  for (const body of [
    {},
    { request: 'x', verdict: 'wrong' },
    { request: 'req_1', verdict: 'no' },
    { request: 'req_1', verdict: 'right', more: 1 },
    [],
  ]) {
    t.is((await fixture.feedback(body)).status, 400, JSON.stringify(body))
  }
  const { url } = fixture.gateway
  const headers = { authorization: 'Bearer caller-1' }
  const get = await send(url, { method: 'GET', path: '/v1/cache/feedback', headers })
  t.is(get.status, 405)
  t.is(get.headers.allow, 'POST')
  const nobody = await send(url, { path: '/v1/cache/feedback', body: {}, headers: { authorization: '' } })
  t.is(nobody.status, 401)
})

test('semantic-cache: feedback: of an answer that was never given is 404, before the first request too, and counts as a request', async (t) => {
  await using fixture = await startSharedFixture({ env: { SVC_RATE_LIMIT: '3' } })
  const body = { request: 'req_1', verdict: 'wrong' }
  const say = (as: string) =>
    send(fixture.gateway.url, { path: '/v1/cache/feedback', body, headers: { authorization: `Bearer ${as}` } })
  const before = await say('a')
  t.is(before.status, 404)
  t.regex(before.text, /No answer from the cache was given to `req_1` of yours/)
  await fixture.ask('How do I?', { pipe: PIPE, as: 'b' })
  const statuses = []
  for (let i = 0; i < 4; i++) statuses.push((await say('c')).status)
  t.deepEqual(statuses, [404, 404, 404, 429])
})
