import test from 'ava'
import { type AskOptions, eventually, stateOf } from '../support/cache-fixture.ts'
import { assertMessageStream } from '../support/events.ts'
import { send } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'
import { startSharedFixture } from '../support/shared-cache-fixture.ts'

// Entries in memory: what is loaded from elsewhere may be late on a busy machine. `lasting.test.ts` is about that.
const fixture = await startSharedFixture({ config: { plugins: { 'semantic-cache': { persist: false } } } })
test.after.always(() => fixture.close())

const PIPE = 'semantic-cache'

function ask(prompt: string, options: AskOptions = {}) {
  return fixture.ask(prompt, { pipe: PIPE, ...options })
}

/** Each test has a subject of its own, so that none finds another's entries. */
test('semantic-cache: answers a question in other words with the reply that it had', async (t) => {
  const first = await ask('How do I renew my fishing permit?')
  const second = await ask('Hi! Could you tell me how to renew my fishing permit? Thanks!')
  t.is(stateOf(first), 'miss')
  t.is(stateOf(second), 'semantic')
  t.is(second.text, first.text)
  t.is(second.headers['x-svc-cache-score'], '1')
  t.regex(String(second.headers['x-svc-cache-entry']), /^[\w-]{12}$/)
  t.regex(String(second.headers.age), /^\d+$/)
  t.is(fixture.calls('Hi! Could you tell me how to renew my fishing permit? Thanks!'), 0)
})

test('semantic-cache: distinguishes the same text, and one that differs in white space alone, from one of the same meaning', async (t) => {
  await ask('How do I sharpen a chisel?')
  t.is(stateOf(await ask('How do I sharpen a chisel?')), 'hit')
  t.is(stateOf(await ask('  How do I  sharpen a chisel?\n')), 'alias')
  t.is(stateOf(await ask('how can I sharpen a chisel')), 'semantic')
})

test('semantic-cache: a text too long to be kept is found by itself alone', async (t) => {
  const long = `How do I oil a ${'very '.repeat(20_000)}old gate?`
  t.is(stateOf(await ask(long)), 'miss')
  t.is(stateOf(await ask(long)), 'hit')
  t.is(stateOf(await ask(` ${long}`)), 'miss')
})

test('semantic-cache: asks the provider when a number differs', async (t) => {
  await ask('Where is parcel 51907?')
  const other = await ask('Where is parcel 51970?')
  t.is(stateOf(other), 'miss')
  t.is(fixture.calls('Where is parcel 51970?'), 1)
})

test('semantic-cache: replays a stored stream as a stream, and as JSON', async (t) => {
  const first = await ask('How do I wax a canoe?', { stream: true })
  const replay = await ask('how can I wax a canoe?', { stream: true })
  t.is(stateOf(replay), 'semantic')
  t.is(replay.text, first.text.replaceAll(/event: ping\ndata: *\{"type": ?"ping"\} *\n\n/g, ''))
  t.notThrows(() => assertMessageStream(replay.text))
  const json = await ask('how to wax a canoe', {})
  t.is(stateOf(json), 'semantic')
  t.is(valueAt(json.json, 'type'), 'message')
})

test('semantic-cache: replays stored JSON as a stream', async (t) => {
  const first = await ask('How do I mend a kite?')
  const replay = await ask('How can I mend a kite?', { stream: true })
  t.is(stateOf(replay), 'semantic')
  t.notThrows(() => assertMessageStream(replay.text))
  t.true(replay.text.includes(String(valueAt(first.json, 'id'))))
})

test('semantic-cache: a receipt of an answer from the cache costs nothing and names the module', async (t) => {
  await ask('How do I oil a loom?')
  const hit = await ask('How can I oil a loom?')
  const id = String(hit.headers['x-svc-receipt'])
  const { json } = await eventually(
    () =>
      send(fixture.gateway.url, {
        method: 'GET',
        path: `/v1/receipts/${id}`,
        headers: { authorization: 'Bearer caller-1' },
      }),
    ({ status }) => status === 200,
  )
  t.like(valueAt(json, 'steps.0'), { module: 'semantic-cache', action: 'hit' })
  t.is(Number(valueAt(json, 'cost.provider_usd')), 0)
})

test('semantic-cache: an error is not kept', async (t) => {
  fixture.script('How do I tune a harp?', (nth) =>
    nth === 1 ? { kind: 'error', status: 400, type: 'invalid_request_error', message: 'no' } : undefined,
  )
  await ask('How do I tune a harp?')
  t.is(stateOf(await ask('How can I tune a harp?')), 'miss')
})

test('semantic-cache: `no-store` goes past it, `no-cache` asks anew and keeps the new reply', async (t) => {
  await ask('How do I dry apples?', { headers: { 'cache-control': 'no-store' } })
  t.is(stateOf(await ask('How can I dry apples?')), 'miss')
  const fresh = await ask('How do I dry apples?', { headers: { 'cache-control': 'no-cache' } })
  t.is(stateOf(fresh), 'miss')
  const replay = await ask('how to dry apples')
  t.is(stateOf(replay), 'semantic')
})

test('semantic-cache: in shadow it gives nothing, and the provider is asked', async (t) => {
  const shadow = { pipe: 'semantic-cache?shadow=true' }
  await ask('How do I polish brass?', shadow)
  t.is(stateOf(await ask('How can I polish brass?', shadow)), 'miss')
  t.is(fixture.calls('How can I polish brass?'), 1)
  await eventually(
    async () => fixture.gateway.log(),
    (log) => log.includes('answer.shadowed'),
  )
})

test('semantic-cache: mode `threshold` gives what `strict` refuses', async (t) => {
  const near = ['How do I store winter tyres in a garage?', 'How do I store old winter tyres in a garage?'] as const
  await ask(near[0])
  t.is(stateOf(await ask(near[1])), 'miss')
  const loose = { pipe: 'semantic-cache?mode=threshold&threshold=0.7', as: 'caller-2' }
  await ask(near[0], loose)
  t.is(stateOf(await ask(near[1], loose)), 'semantic')
})

test('semantic-cache: behind exact-cache, a text that was answered by meaning is looked up by meaning again', async (t) => {
  const both = { pipe: 'exact-cache,semantic-cache' }
  await ask('How do I glaze a pot?', both)
  for (let i = 0; i < 2; i++) t.is(stateOf(await ask('How can I glaze a pot?', both)), 'semantic')
  t.is(stateOf(await ask('How do I glaze a pot?', both)), 'hit')
})

test('semantic-cache: text in code is found by itself only', async (t) => {
  await ask('What does this do?\n```\nreturn  a\n```')
  t.is(stateOf(await ask('What does this do?\n```\nreturn a\n```')), 'miss')
  t.is(stateOf(await ask('What does this do?\n```\nreturn a\n```')), 'hit')
})

test('semantic-cache: a mode or option that is gone is refused, with what to use', async (t) => {
  const mode = await ask('How do I?', { pipe: 'semantic-cache?mode=bound' })
  t.is(mode.status, 400)
  t.regex(mode.text, /mode `bound` is gone: use `strict`, or `judged`/)
})

for (const [one, other] of [
  ['What does 2*(3+4) give?', 'What does (2*3)+4 give?'],
  ['Who acquired Slack?', 'Who did Slack acquire?'],
  ['Who can fire the CEO?', 'Who can the CEO fire?'],
  ['What does echo "$x" print?', "What does echo '$x' print?"],
] as const)
  test(`semantic-cache: “${other}” does not get the answer of “${one}”`, async (t) => {
    t.is(stateOf(await ask(one, { as: 'differences' })), 'miss')
    t.is(stateOf(await ask(other, { as: 'differences' })), 'miss')
  })
